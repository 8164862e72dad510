/** Numbers, money and times as the user's locale writes them. Money stays a decimal string up to here. */

export interface Formats {
  locale: string;
  integer: (value: number) => string;
  /** A number of things by the name of one of them: "1 row", "25 rows". */
  counted: (value: number, noun: string) => string;
  decimal: (value: number, digits?: number) => string;
  percent: (share: number, digits?: number) => string;
  /** A cost, a budget or a price: US dollars, exact unless so many `places` are asked for. */
  dollars: (amount: string, places?: number) => string;
  /** A cost to be taken in at a glance; `dollars` tells it exactly. */
  briefDollars: (amount: string) => string;
  /** What the host topped up or what is left of it, which is no currency: how much a dollar takes is up to the host. */
  credits: (amount: string) => string;
  /** A large number in short: 128K. */
  short: (value: number) => string;
  /** With the time zone where that is not the one that the browser is in. */
  dateTime: (iso: string) => string;
  time: (iso: string) => string;
  /** A calendar day such as 2026-11-21, which is no moment and has no time zone. */
  day: (date: string) => string;
  ago: (iso: string, now: number) => string;
  duration: (seconds: number) => string;
  /** How often something happens, by the second or by the minute. */
  rate: (perSecond: number) => string;
  bytes: (count: number) => string;
}

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

const US_DOLLARS: Intl.NumberFormatOptions = { style: "currency", currency: "USD" };
const MOST_PLACES = 6;
const SHOWN_DIGITS = 3;
/** More than tell any number that is not a half from one. */
const EXACT_PLACES = 40;

export function formatsFor(wantedLocale: string | undefined, wantedZone: string | undefined): Formats {
  const locale = supported(wantedLocale);
  const timeZone = zone(wantedZone);
  const inZone = timeZone ? { timeZone } : {};
  const integers = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
  const dateTimes = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short", ...inZone });
  const times = new Intl.DateTimeFormat(locale, { timeStyle: "medium", ...inZone });
  const zones = new Intl.DateTimeFormat(locale, { timeZoneName: "short", ...inZone });
  const offsets = new Intl.DateTimeFormat("en", { timeZoneName: "longOffset", ...inZone });
  const offsetsHere = new Intl.DateTimeFormat("en", { timeZoneName: "longOffset" });
  const days = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", timeZone: "UTC" });
  const shorts = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 });
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  const decimal = (value: number, digits = 2): string => rounded(value, locale, digits);
  return {
    locale,
    integer: (value) => integers.format(value),
    counted: (value, noun) => `${integers.format(value)} ${noun}${value === 1 ? "" : "s"}`,
    decimal,
    // As the service writes it in sentences and reports.
    percent: (share, digits = 0) => `${decimal(100 * share, digits)}\u00a0%`,
    dollars: (amount, places) => written(amount, locale, US_DOLLARS, places),
    briefDollars: (amount) =>
      new Intl.NumberFormat(locale, {
        ...US_DOLLARS,
        minimumFractionDigits: 2,
        maximumFractionDigits: placesFor([amount]),
      }).format(amount as Intl.StringNumericLiteral),
    credits: (amount) => written(amount, locale, {}),
    short: (value) => shorts.format(value),
    dateTime: (iso) => {
      const date = new Date(iso);
      const isElsewhere = zoneIn(offsets, date) !== zoneIn(offsetsHere, date);
      return isElsewhere ? `${dateTimes.format(date)} ${zoneIn(zones, date)}` : dateTimes.format(date);
    },
    day: (date) => days.format(new Date(`${date}T00:00:00Z`)),
    time: (iso) => times.format(new Date(iso)),
    ago: (iso, now) => {
      const seconds = (new Date(iso).getTime() - now) / 1000;
      const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ["minute", 60];
      return Math.abs(seconds) < 60 ? relative.format(0, "second") : relative.format(Math.round(seconds / size), unit);
    },
    duration,
    rate: (perSecond) =>
      perSecond >= 1
        ? `${decimal(perSecond, perSecond < 10 ? 1 : 0)} a second`
        : `${decimal(60 * perSecond, perSecond > 0 && perSecond < 1 / 6 ? 1 : 0)} a minute`,
    bytes: (count) =>
      count < 1000 ? `${count} B` : count < 1e6 ? `${decimal(count / 1000, 1)} kB` : `${decimal(count / 1e6, 1)} MB`,
  };
}

/**
 * As the service rounds in its sentences, reports and tables: by what the number exactly is, and a half goes to the even
 * neighbour. So two shares that make a whole are 62 % and 38 %, and never 63 % and 38 %.
 */
function rounded(value: number, locale: string, digits: number): string {
  return new Intl.NumberFormat(locale, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    roundingMode: "halfEven",
    // The formatter reads a number as its shortest text, in which 0.155 looks like a half, and a text as it stands.
  }).format(value.toFixed(EXACT_PLACES) as Intl.StringNumericLiteral);
}

/** At least two places, more when they say something, as prices of single calls are parts of a cent. */
function written(amount: string, locale: string, style: Intl.NumberFormatOptions, wanted?: number): string {
  const places = (amount.split(".")[1] ?? "").replace(/0+$/, "").length;
  const digits = wanted ?? Math.max(2, Math.min(MOST_PLACES, places));
  // The formatter takes the decimal string itself, so that nothing passes through a float.
  return new Intl.NumberFormat(locale, {
    ...style,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(amount as Intl.StringNumericLiteral);
}

/** As many places as show the smallest of these amounts to three digits: one column has one number of places. */
export function placesFor(amounts: readonly (string | null | undefined)[]): number {
  const sizes = amounts.map(Number).filter((amount) => amount > 0);
  if (!sizes.length) return 2;
  return Math.max(2, Math.min(MOST_PLACES, SHOWN_DIGITS - 1 - Math.floor(Math.log10(Math.min(...sizes)))));
}

export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

function supported(locale: string | undefined): string {
  try {
    return Intl.getCanonicalLocales(locale ?? navigator.language)[0] ?? "en";
  } catch {
    return "en";
  }
}

function zoneIn(format: Intl.DateTimeFormat, at: Date): string {
  return format.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "";
}

function zone(timeZone: string | undefined): string | undefined {
  try {
    if (timeZone) new Intl.DateTimeFormat("en", { timeZone });
    return timeZone;
  } catch {
    return undefined;
  }
}
