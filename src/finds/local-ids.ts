type Run = { readonly start: number; readonly digits: string };

/**
 * Returns the local id after the last one: K-017 → K-018. It increments the run of digits in which
 * the last two differ, else the last run, unless that looks like a year behind another number
 * (`17/2024`).
 * @param latest the last assigned ids, newest first
 * @param isTaken tells if a find has this id already
 */
export function makeNextLocalId(
  latest: readonly string[],
  isTaken: (id: string) => boolean,
): string {
  const [last, before = ''] = latest.filter((id) => !isMadeByProgram(id));
  if (last === undefined) return FIRST;
  const run = findCountingRun(last, before);
  if (run === undefined) return findFirstFree((number) => `${last}-${number}`, 2, isTaken);
  const { start, digits } = run;
  const head = last.slice(0, start);
  const tail = last.slice(start + digits.length);
  return findFirstFree(
    (number) => `${head}${String(number).padStart(digits.length, '0')}${tail}`,
    Number(digits) + 1,
    isTaken,
  );
}

const FIRST = '001';

/** Tells if an id is the digest of a row or the UUID of a form, which cannot be incremented. */
export function isMadeByProgram(id: string): boolean {
  return /^row-[0-9a-f]{16}|[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}/i.test(id);
}

function findFirstFree(
  makeName: (number: number) => string,
  from: number,
  isTaken: (id: string) => boolean,
): string {
  for (let number = from; ; number++) if (!isTaken(makeName(number))) return makeName(number);
}

function findDigitRuns(id: string): Run[] {
  return [...id.matchAll(/\d+/g)]
    .map((match) => ({ start: match.index, digits: match[0] }))
    .filter(({ digits }) => digits.length < 16);
}

function findCountingRun(last: string, before: string): Run | undefined {
  const runs = findDigitRuns(last);
  const earlierRuns = findDigitRuns(before);
  const isSameShape = before.replace(/\d+/g, '#') === last.replace(/\d+/g, '#');
  const differing = runs.filter(({ digits }, index) => digits !== earlierRuns[index]?.digits);
  if (isSameShape && differing.length === 1) return differing[0];
  const end = runs.at(-1);
  const isYear = /\/(?:19|20)\d\d$/.test(last.slice(0, end && end.start + end.digits.length));
  return isYear ? (runs.at(-2) ?? end) : end;
}

/** Tells if a key is the digest of a row without a number. */
export function isContentKey(key: string): boolean {
  return /^row-[0-9a-f]{16}(?:-\d+)?$/.test(key);
}
