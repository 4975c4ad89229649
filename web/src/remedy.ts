/**
 * What to index so that a filter can be used: the server tells it as a command, and the page offers it as a job.
 *
 * remedyOf(`skipstone index /data/t --feature "id < k"`) is { action: "index", arguments: { feature: ["id < k"] } }.
 */

export interface Remedy {
  readonly action: "index";
  readonly arguments: { readonly expression?: readonly string[]; readonly feature?: readonly string[] };
}

/** The job of a command; null for commands that need something that the page does not have. */
export function remedyOf(command: string): Remedy | null {
  const words = shellWords(command);
  if (words === null || words[0] !== "skipstone" || words[1] !== "index" || words.length !== 5) return null;
  const [, , , option, value] = words as [string, string, string, string, string];
  if (option === "--expression") return { action: "index", arguments: { expression: [value] } };
  if (option === "--feature") return { action: "index", arguments: { feature: [value] } };
  return null;
}

/** The words of a shell command with quotes; null where a quote is not closed. */
export function shellWords(command: string): readonly string[] | null {
  const words: string[] = [];
  let [word, quote, begun] = ["", "", false];
  for (const letter of command) {
    if (quote !== "") {
      if (letter === quote) quote = "";
      else word += letter;
    } else if (letter === '"' || letter === "'") [quote, begun] = [letter, true];
    else if (letter === " ") {
      if (begun) words.push(word);
      [word, begun] = ["", false];
    } else [word, begun] = [word + letter, true];
  }
  if (quote !== "") return null;
  if (begun) words.push(word);
  return words;
}
