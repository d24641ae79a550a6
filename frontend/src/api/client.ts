// Reading the REST API: JSON or a problem with its own words; and the data that pages embed.
import { plainJson } from "./plain";
import type { PageData } from "./types.gen";

export class Problem extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

function parsed(json: string): unknown {
  return JSON.parse(plainJson(json));
}

function words(status: number, body: unknown): string {
  if (body && typeof body === "object" && "detail" in body && typeof body.detail === "string") return body.detail;
  if (body && typeof body === "object" && "title" in body && typeof body.title === "string") return body.title;
  return `The server answered ${status}.`;
}

/** GET an address below /api/v1/. Throws a Problem in the server's words, also when no answer came. */
export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  let response: Response;
  try {
    response = await fetch(`/api/v1/${path}`, { headers: { Accept: "application/json" }, signal: signal ?? null });
  } catch (reason) {
    if (reason instanceof DOMException && reason.name === "AbortError") throw reason;
    throw new Problem(0, "The server cannot be reached. What is on the page stays; try again when it is back.");
  }
  const body: unknown = await response
    .text()
    .then(parsed)
    .catch(() => null);
  if (!response.ok) throw new Problem(response.status, words(response.status, body));
  return body as T;
}

/** A query string from pairs; a list gives its key once per item. */
export function query(pairs: Record<string, string | number | null | undefined | (string | number)[]>): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(pairs)) {
    if (value === null || value === undefined) continue;
    for (const item of Array.isArray(value) ? value : [value]) parameters.append(key, String(item));
  }
  const text = parameters.toString();
  return text ? `?${text}` : "";
}

/** The JSON that a template left in the page by its filter `page_data`. */
export function pageData<Id extends keyof PageData>(id: Id): PageData[Id] {
  const element = document.getElementById(id);
  if (!element?.textContent) throw new Error(`the page has no data "${id}"`);
  return parsed(element.textContent) as PageData[Id];
}
