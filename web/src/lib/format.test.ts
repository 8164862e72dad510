import { describe, expect, test } from "vitest";
import { formatsFor, placesFor } from "./format";

describe("formats", () => {
  test("money shows what a part of a cent is worth, and two places at least", () => {
    const { dollars, credits } = formatsFor("en", "UTC");
    expect(["0", "12.5", "0.000042"].map((amount) => dollars(amount))).toEqual(["$0.00", "$12.50", "$0.000042"]);
    expect(dollars("9007199254740993.000001")).toBe("$9,007,199,254,740,993.000001");
    expect(["0", "12.5", "-0.000042"].map(credits)).toEqual(["0.00", "12.50", "-0.000042"]);
  });

  test("an amount at a glance has three digits that say something, and a column one number of places", () => {
    const { briefDollars, dollars } = formatsFor("en", "UTC");
    expect(["2.30376", "0.17", "0.044658", "0.000056", "0", "1234.5"].map(briefDollars)).toEqual([
      "$2.30",
      "$0.17",
      "$0.0447",
      "$0.000056",
      "$0.00",
      "$1,234.50",
    ]);
    const places = placesFor(["0.001662", "0.12", "0", null]);
    expect(["0.001662", "0.12", "0"].map((amount) => dollars(amount, places))).toEqual([
      "$0.00166",
      "$0.12000",
      "$0.00000",
    ]);
  });

  test("dollars are those of the United States in every locale, also where another dollar is the usual one", () => {
    expect(formatsFor("en-AU", "UTC").dollars("0.25").replace(/\s/, " ")).toBe("USD 0.25");
    expect(formatsFor("en-CA", "UTC").dollars("0.25")).toBe("US$0.25");
    expect(formatsFor("en", "UTC").dollars("0.25")).toBe("$0.25");
    expect(formatsFor("de", "UTC").dollars("1.5").replace(/\s/, " ")).toBe("1,50 $");
    expect(formatsFor("en", "UTC").short(128_000)).toBe("128K");
  });

  test("what is slow is counted by the minute", () => {
    const { rate } = formatsFor("en", "UTC");
    expect([12.34, 1.54, 0.5, 0.02, 0].map(rate)).toEqual([
      "12 a second",
      "1.5 a second",
      "30 a minute",
      "1.2 a minute",
      "0 a minute",
    ]);
  });

  test("numbers and times follow the locale and the timezone", () => {
    const german = formatsFor("de", "Europe/Berlin");
    expect(german.integer(12345)).toBe("12.345");
    expect(german.dateTime("2026-01-01T12:00:00Z")).toContain("13:00");
  });

  test("a time says its zone where that is not the one that the reader is in", () => {
    const here = new Intl.DateTimeFormat().resolvedOptions().timeZone;
    expect(formatsFor("en", "Asia/Kathmandu").dateTime("2026-01-01T12:00:00Z")).toMatch(/5:45\sPM GMT\+5:45$/);
    expect(formatsFor("en", here).dateTime("2026-01-01T12:00:00Z")).toMatch(/[AP]M$/);
  });

  test("who sets neither has those of the browser", () => {
    const { locale, timeZone } = new Intl.DateTimeFormat().resolvedOptions();
    const at = "2026-01-01T12:00:00Z";
    expect(formatsFor(undefined, undefined).locale).toBe(locale);
    expect(formatsFor(undefined, undefined).dateTime(at)).toBe(formatsFor(locale, timeZone).dateTime(at));
  });

  test("a locale or a timezone that does not exist is no reason to fail", () => {
    const formats = formatsFor("no_such!", "Nowhere/At_All");
    expect(formats.integer(1)).toBe("1");
    expect(formats.dateTime("2026-01-01T12:00:00Z")).not.toBe("");
  });

  test("the past is told in the largest unit that fits", () => {
    const { ago } = formatsFor("en", "UTC");
    const now = Date.parse("2026-01-02T12:00:00Z");
    expect(ago("2026-01-02T11:59:30Z", now)).toBe("now");
    expect(ago("2026-01-02T09:00:00Z", now)).toBe("3 hours ago");
    expect(ago("2026-01-01T12:00:00Z", now)).toBe("yesterday");
  });
});

test("numbers are rounded as the service rounds them, and two shares that make a whole make a hundred", () => {
  const { percent, decimal } = formatsFor("en", "UTC");
  const shares = [0.625, 0.375, 0.575, 0.005, 1].map((share) => percent(share));
  expect(shares).toEqual(["62", "38", "57", "0", "100"].map((share) => `${share}\u00a0%`));
  expect([0.125, 0.155, 0.145, 2.675, -1234.5].map((value) => decimal(value))).toEqual([
    "0.12",
    "0.15",
    "0.14",
    "2.67",
    "-1,234.50",
  ]);
  expect(formatsFor("de", "UTC").percent(0.625)).toBe(percent(0.625));
});
