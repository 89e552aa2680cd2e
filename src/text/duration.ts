const MS_OF_UNIT: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses `90s` or `2h` into milliseconds; undefined for other texts. @param units letters that the text may end with */
export function durationMs(text: string, units: string): number | undefined {
  const [, count, unit = ''] = new RegExp(`^([1-9]\\d{0,5})([${units}])$`).exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (MS_OF_UNIT[unit] ?? 0);
}
