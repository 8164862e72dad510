/** The serif of headings and decisions, which few systems have. */
import latinExt from "@fontsource/source-serif-4/files/source-serif-4-latin-ext-600-normal.woff2?url";
import latin from "@fontsource/source-serif-4/files/source-serif-4-latin-600-normal.woff2?url";

const PARTS = [
  [latin, "U+0-FF, U+131, U+152-153, U+2BB-2BC, U+2C6, U+2DA, U+2DC, U+2000-206F, U+20AC, U+2122, U+2212"],
  [latinExt, "U+100-130, U+132-151, U+154-2BA, U+1E00-1E9F, U+1EF2-1EFF, U+2C60-2C7F, U+A720-A7FF"],
] as const;

/** As bytes, because the policy of a host's page allows the app to fetch, and need not allow it fonts. */
export async function bringSerif(): Promise<void> {
  await Promise.all(
    PARTS.map(async ([url, unicodeRange]) => {
      try {
        const bytes = await (await fetch(url)).arrayBuffer();
        document.fonts.add(await new FontFace("Source Serif 4", bytes, { weight: "400 700", unicodeRange }).load());
      } catch {
        // The system's own serif stands in.
      }
    }),
  );
}
