/** What the colours of a block map mean. */

import { css, paletteOf } from "./colours";
import type { Legend } from "./colouring";
import { dark } from "../state/theme";

export function MapLegend({ legend }: { legend: Legend }) {
  if (legend.kind === "classes")
    return (
      <div class="legend">
        {legend.swatches.map((swatch) => (
          <Swatch key={swatch.text} {...swatch} />
        ))}
      </div>
    );
  return (
    <div class="legend">
      <span class="ramp">
        {legend.low} <i aria-label="to" role="img" /> {legend.high}
      </span>
      {legend.unknown ? <Swatch colour={css(paletteOf(dark.value).unknown)} text="unknown" /> : null}
    </div>
  );
}

export function Swatch({ colour, text }: { colour: string; text: string }) {
  return (
    <span class="swatch">
      <i style={{ background: colour }} /> {text}
    </span>
  );
}
