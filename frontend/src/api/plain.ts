// Texts of strangers in data: Plotly reads tags and templates in the texts of a chart, browsers turn the direction.

const INVISIBLE = "\\u200b";
const TURNS = /[\u0080-\u009f\u202a-\u202e\u2066-\u2069]/g;
// An escape of JSON's, taken whole: a backslash before it may be one that is escaped itself.
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|[^u])/g;
const UNSEEN = /^(?:00[01][0-9a-f]|00[89][0-9a-f]|007f|202[a-e]|206[6-9])$/;
const SHORT = new Map([
  ["\\b", "0008"],
  ["\\f", "000c"],
]);
const SPACES = new Set(["0009", "000a", "000d"]);

/** The JSON, in which no text is a tag or a template to Plotly, and control characters are seen. */
export function plainJson(json: string): string {
  return json
    .replace(TURNS, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .replace(ESCAPE, (whole: string, code?: string) => {
      const known = SHORT.get(whole) ?? code?.toLowerCase();
      if (known === undefined || SPACES.has(known)) return whole;
      if (known === "003c") return `${whole}${INVISIBLE}`;
      return UNSEEN.test(known) ? `\\\\u${known}` : whole;
    })
    .replaceAll("<", `<${INVISIBLE}`)
    .replaceAll("%{", `%${INVISIBLE}{`);
}
