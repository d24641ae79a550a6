// Chart data as CSV (RFC 4180).
export type Cell = string | number | null | undefined;

function cell(value: Cell): string {
  if (value === null || value === undefined || (typeof value === "number" && Number.isNaN(value))) return "";
  // Spreadsheets read such text as a formula.
  const text = typeof value === "string" && /^[=+\-@]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function toCsv(header: string[], rows: Cell[][]): string {
  return [header, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

/** Hand the reader a file made in the page. */
export function saveText(text: string, filename: string, type = "text/csv"): void {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = address;
  link.download = filename;
  link.click();
  URL.revokeObjectURL(address);
}
