/** 2026-11-20 21:35 in the given zone (the reader's, unless another is given). */
export function localTime(moment: Date, seconds = false, timeZone?: string): string {
  const format = new Intl.DateTimeFormat("en-CA", {
    timeZone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
  });
  const parts = Object.fromEntries(format.formatToParts(moment).map((part) => [part.type, part.value]));
  const clock = `${parts["hour"]}:${parts["minute"]}${seconds ? `:${parts["second"]}` : ""}`;
  return `${parts["year"]}-${parts["month"]}-${parts["day"]} ${clock}`;
}

/** UTC, UTC+2 or UTC-3:30 at that moment. */
export function zoneOffset(moment: Date, timeZone?: string): string {
  const format = new Intl.DateTimeFormat("en-CA", { timeZone, timeZoneName: "shortOffset" });
  const name = format.formatToParts(moment).find((part) => part.type === "timeZoneName")?.value ?? "";
  return name.replace("GMT", "UTC").replace("UTC+0", "UTC");
}

/** The reader's zone by name, since its offset differs between summer and winter: UTC, Europe/Berlin. */
export function zoneName(timeZone = new Intl.DateTimeFormat().resolvedOptions().timeZone): string {
  return ["Etc/UTC", "Etc/GMT", "GMT", ""].includes(timeZone) ? "UTC" : timeZone;
}
