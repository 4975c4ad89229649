/** SQL in pieces, to colour it: no parser, for a wrong colour does no harm. Joined, the pieces are the text again. */

export type PieceKind = "keyword" | "text" | "number" | "comment" | "plain";

export interface Piece {
  readonly kind: PieceKind;
  readonly text: string;
}

const KEYWORDS = new Set(
  (
    "select from where and or not in is null like between exists case when then else end as on using join inner left right full " +
    "outer cross semi anti group by order having limit offset union all intersect except distinct with values date timestamp " +
    "interval cast true false asc desc nulls first last over partition rows rlike ilike escape lateral view explode"
  ).split(" "),
);

const PATTERN =
  /(?<comment>--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|(?<text>'(?:[^'\\]|\\.|'')*'?|"(?:[^"\\]|\\.)*"?)|(?<quoted>`(?:[^`]|``)*`?)|(?<number>\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?:[lLsSyYfFdD]|[bB][dD])?\b)|(?<word>[\p{L}_][\p{L}\p{N}_]*)|(?<rest>[\s\S])/gu;

export function pieces(sql: string): readonly Piece[] {
  const found: Piece[] = [];
  let plain = "";
  for (const match of sql.matchAll(PATTERN)) {
    const kind = kindOf(match);
    if (kind === "plain") plain += match[0];
    else {
      if (plain) found.push({ kind: "plain", text: plain });
      plain = "";
      found.push({ kind, text: match[0] });
    }
  }
  if (plain) found.push({ kind: "plain", text: plain });
  return found;
}

function kindOf(match: RegExpMatchArray): PieceKind {
  const { comment, text, number, word } = match.groups ?? {};
  if (comment !== undefined) return "comment";
  if (text !== undefined) return "text";
  if (number !== undefined) return "number";
  return word !== undefined && KEYWORDS.has(word.toLowerCase()) ? "keyword" : "plain";
}
