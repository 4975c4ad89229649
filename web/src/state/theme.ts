/** Dark or light: the system's choice, unless the visitor made one. */

import { computed, effect, signal } from "@preact/signals";

export type Theme = "system" | "dark" | "light";
const KEY = "skipstone-theme";

export const theme = signal<Theme>(stored());
const systemDark = matchMedia("(prefers-color-scheme: dark)");
const system = signal(systemDark.matches);
systemDark.addEventListener("change", (event) => {
  system.value = event.matches;
});

export const dark = computed(() => (theme.value === "system" ? system.value : theme.value === "dark"));

effect(() => {
  if (theme.value === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme.value;
});

export function choose(next: Theme): void {
  theme.value = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // without storage the choice lasts until the page is closed
  }
}

function stored(): Theme {
  try {
    const found = localStorage.getItem(KEY);
    return found === "dark" || found === "light" ? found : "system";
  } catch {
    return "system";
  }
}
