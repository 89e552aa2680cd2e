import { asServerMs } from '../../../src/base/clock.ts';
import type { HarvestedElements } from '../../../src/finds/fields.ts';
import type { HarvestedFile, HarvestedFind } from '../../../src/finds/harvested-find.ts';
import {
  type AttemptWindow,
  type HarvestView,
  judgeImports,
  makeVisibilityKey,
  type SentImport,
} from '../../../src/push/judge-import.ts';

export const START = Date.UTC(2024, 5, 1, 20, 0, 0);
export const MINUTE = 60_000;
export const USER = 'U-000408';
export const OTHER_USER = 'U-000001';
export const SENT: HarvestedElements = {
  projekt: { id: 'C-1', text: 'C-1' },
  poznamka: 'přezka',
  stav: '2',
  geom_system: '4326',
  pristupnost: { id: 'HES-000867', text: '' },
  lokalizace: 'pole',
  geom_wkt: 'POINT (14.4 50.1)',
};

export function window(
  fromMs: number,
  { untilMs = fromMs + 10 * MINUTE, accounts = new Set([USER]) }: WindowPart = {},
): AttemptWindow {
  return {
    bounds: {
      fromMs: asServerMs(fromMs),
      untilMs: asServerMs(untilMs),
      settledMs: asServerMs(fromMs + 10 * MINUTE),
    },
    accounts,
  };
}

type WindowPart = { readonly untilMs?: number; readonly accounts?: AttemptWindow['accounts'] };

/** Attempts before which the service had not stated the time. */
export const TIME_UNKNOWN: AttemptWindow = { bounds: undefined, accounts: new Set([USER]) };

export function doubt(entryId: number, more: Partial<SentImport> = {}): SentImport {
  return {
    entryId,
    elements: SENT,
    window: window(START),
    lost: undefined,
    ...more,
  };
}

export function record(
  identCely: string,
  more: {
    atMs?: number;
    user?: string;
    poznamka?: string;
    stav?: number;
    masked?: boolean;
    files?: HarvestedFile[];
  } = {},
): HarvestedFind {
  const {
    atMs = START + 1000,
    user = USER,
    poznamka = 'přezka',
    stav = 2,
    masked = false,
    files = [],
  } = more;
  return {
    identCely,
    stav,
    protectedWithheld: masked,
    area: undefined,
    district: undefined,
    files,
    history: [{ type: 'SN01', at: new Date(atMs).toISOString(), user, note: '' }],
    elements: {
      projekt: { id: 'C-1', text: 'C-1' },
      poznamka,
      geom_system: '4326',
      pristupnost: { id: 'HES-000867', text: 'archeolog' },
      ...(masked ? {} : { lokalizace: 'pole', geom_wkt: 'POINT (14.4 50.1)' }),
    },
  };
}

export type Seen = Partial<Omit<HarvestView, 'index'>> & {
  readonly owned?: string;
  readonly index?: Partial<HarvestView['index']>;
};

/** Long after, with a newer record of this account shown. */
export function view(
  records: readonly HarvestedFind[],
  { owned, index, ...more }: Seen = {},
): HarvestView {
  return {
    lookups: new Map(),
    finds: records,
    nowMs: START + 60 * MINUTE,
    isExplained: (identCely) => identCely === owned,
    countDifferencesOfOwner: () => 0,
    shown: makeSights(SENT, 2),
    harvester: USER,
    index: { unlisted: new Map(), allowanceMs: 15 * MINUTE, ...index },
    ...more,
  };
}

export function makeSights(
  elements: HarvestedElements,
  stav: number,
  user = USER,
): HarvestView['shown'] {
  return new Map([[makeVisibilityKey(elements, stav), new Set([user])]]);
}

export function kinds(doubts: readonly SentImport[], seen: HarvestView): Record<number, string> {
  return Object.fromEntries(
    [...judgeImports(doubts, seen)].map(([id, verdict]) => [id, verdict.kind]),
  );
}
