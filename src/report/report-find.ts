import { formatLocalDate } from '../base/clock.ts';
import { formatDay, getLanguage, t } from '../base/message.ts';
import {
  FIELDS,
  type Field,
  type FindElements,
  getElementLabel,
  type Reference,
} from '../finds/fields.ts';
import type { LookupArea } from '../finds/find.ts';
import type { HarvestedFind } from '../finds/harvested-find.ts';
import { findPointInBothSystems } from '../finds/match-finds.ts';
import type { Term } from '../finds/vocabulary/term.ts';
import type { Entry, ImportEntry } from '../outbox/entry.ts';
import { listEntriesOfSubject } from '../outbox/entry-queries.ts';
import type { Photograph } from '../outbox/facts.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import type { StoredFind } from '../outbox/stored-finds.ts';
import { formatValueWithUnit } from '../outbox/views/entry-words.ts';
import {
  findPulledRecord,
  getElementsAtService,
  type PulledRecord,
} from '../outbox/views/records-at-service.ts';
import {
  type Findspot,
  formatSJtsk,
  formatWgs84,
  type Label,
  type Problem,
  type ReportedFact,
  type ReportFind,
  type ReportSettings,
  type ReportState,
} from './report-model.ts';

/** Sources of every report; whether it shows places is decided for each page. */
export type ReportSources = {
  readonly outbox: Outbox;
  /** Base address of the service's records; undefined where it is not known. */
  readonly recordBase: string | undefined;
};

/**
 * Access to the data of finds; lookups of vocabularies are remembered, since finds repeat terms.
 */
export type FindSources = ReportSources & {
  readonly places: ReportSettings['places'];
  readonly findTerm: (ident: string) => Term | undefined;
  readonly findDistrict: (area: string) => string | undefined;
  readonly lookupArea: LookupArea;
};

/** The report's content of a find, and its photographs, whose files are not read yet. */
export type CollectedFind = {
  readonly find: ReportFind;
  readonly photographs: readonly Photograph[];
};

/**
 * Collects what the report shows of one find, in the language of the command; its elements are
 * those of {@link getElementsAtService}. Where places are left out, `find` has nothing that may
 * reveal the location, while the names of the photographs still may. Dropped imports and
 * photographs do not count, and no file of a photograph is read.
 * @param number of the find in the page, from 1
 */
export function collectReportFind(
  sources: FindSources,
  stored: StoredFind,
  number: number,
): CollectedFind {
  const { outbox, recordBase } = sources;
  const entries = listEntriesOfSubject(outbox, stored.uuid);
  const imported = entries.find(
    (entry): entry is ImportEntry => entry.kind === 'import' && entry.state !== 'dropped',
  );
  const identCely = imported?.identCely ?? undefined;
  const pulled = identCely === undefined ? undefined : findPulledRecord(outbox, identCely);
  const elements = getElementsAtService(outbox, stored);
  const spot = makeFindspot(sources, elements, pulled?.record);
  const find: ReportFind = {
    number,
    localId: stored.localId,
    identCely,
    recordUrl: makeRecordUrl(recordBase, identCely),
    state: getReportState(entries, imported, elements, pulled),
    // As it was sent, until a pull tells what the service made of it.
    stateNote: imported?.state === 'accepted' && pulled === undefined ? t`as sent` : undefined,
    period: findLabel(sources, elements.obdobi),
    objectType: findLabel(sources, elements.druh_nalezu),
    facts: [
      ...listFacts(sources, elements),
      ...listComputedFacts(spot, imported?.state === 'accepted' ? imported.updatedAt : undefined),
    ],
    place: spot.place,
    area: spot.area,
    problems: entries.flatMap((entry) => listProblems(entry, sources.places)),
  };
  const photographs = entries.flatMap((entry) =>
    entry.kind === 'photo' && entry.state !== 'dropped' ? [entry.photograph] : [],
  );
  return { find, photographs };
}

function makeRecordUrl(
  recordBase: string | undefined,
  identCely: string | undefined,
): string | undefined {
  return recordBase === undefined || identCely === undefined
    ? undefined
    : `${recordBase}/id/${encodeURIComponent(identCely)}`;
}

const AT_SERVICE: Readonly<Record<number, ReportState>> = {
  1: 'registered',
  2: 'submitted',
  3: 'confirmed',
  4: 'archived',
};

/**
 * Returns the state of the import; of an accepted one that of the last pull, else of what was sent,
 * or `gone`. One that is being sent counts as queued. A find without an import is unsent, or
 * dropped where all its imports were.
 */
function getReportState(
  entries: readonly Entry[],
  imported: ImportEntry | undefined,
  elements: FindElements,
  pulled: PulledRecord | undefined,
): ReportState {
  switch (imported?.state) {
    case undefined:
      return entries.some((entry) => entry.kind === 'import') ? 'dropped' : 'unsent';
    case 'draft':
    case 'refused':
    case 'uncertain':
    case 'queued':
    case 'dropped':
      return imported.state;
    case 'sending':
      return 'queued';
    case 'accepted':
      if (pulled?.standing === 'deleted' || pulled?.standing === 'missing') return 'gone';
      return AT_SERVICE[pulled?.stav ?? elements.stav ?? 1] ?? 'registered';
  }
}

function findLabel(sources: FindSources, reference: Reference | undefined): Label | undefined {
  if (reference === undefined) return undefined;
  const term = sources.findTerm(reference.id);
  const english = getLanguage() === 'en' ? term?.labelEn : undefined;
  return {
    id: reference.id,
    text: english ?? term?.label ?? (reference.text === '' ? reference.id : reference.text),
  };
}

/**
 * Returns the elements with their position in the report; those that it never shows are left out,
 * and, with the places, those that may reveal them. An absent element has the text ''.
 */
function listFacts(sources: FindSources, elements: FindElements): ReportedFact[] {
  return FIELDS.flatMap((field): ReportedFact[] => {
    const { name, reportedAt: at = LAST_AT, shape } = field;
    if (at === null || (sources.places === 'left-out' && canRevealLocation(name))) return [];
    const text = formatForReport(sources, field, elements);
    return [{ at, label: getElementLabel(field), text, shape }];
  });
}

/** Position of an element without one. */
const LAST_AT = 175;

/** Returns what the service or pas computes of a find; '' for what is not known or left out. */
function listComputedFacts(
  { place, area, district }: Findspot,
  acceptedMs: number | undefined,
): ReportedFact[] {
  const facts: ReportedFact[] = [
    { at: 90, label: t`Cadastral area`, text: area ?? '' },
    { at: 100, label: t`District`, text: district ?? '' },
    {
      at: 170,
      label: t`Sent`,
      text: acceptedMs === undefined ? '' : formatDay(formatLocalDate(acceptedMs)),
    },
  ];
  if (place === undefined) return facts;
  const originOf = (system: string): string =>
    place.measuredIn === system ? t`as measured` : t`computed`;
  return [
    ...facts,
    {
      at: 120,
      label: `WGS 84, ${originOf('4326')}`,
      text: formatWgs84(place),
      shape: 'first',
    },
    { at: 130, label: `S-JTSK, ${originOf('5514')}`, text: formatSJtsk(place), shape: 'double' },
  ];
}

/** Formats a term by its label, a day in words; empty where the find lacks the element. */
function formatForReport(sources: FindSources, field: Field, elements: FindElements): string {
  const value = elements[field.name];
  if (field.kind === 'date' && typeof value === 'string') return formatDay(value);
  if (typeof value !== 'object') return formatValueWithUnit(field, value) ?? '';
  return field.set === undefined ? value.id : (findLabel(sources, value)?.text ?? '');
}

/** Returns the location and data that may reveal it. The district alone is not protected. */
function makeFindspot(
  sources: FindSources,
  elements: FindElements,
  record: HarvestedFind | undefined,
): Findspot {
  const place = findPointInBothSystems(elements);
  const answer = place === undefined ? undefined : sources.lookupArea(...place.wgs84);
  const inside = answer?.kind === 'inside' ? answer.area : undefined;
  const district =
    record?.district?.text ?? (inside === undefined ? undefined : sources.findDistrict(inside.id));
  if (sources.places === 'left-out') {
    return { place: undefined, area: undefined, district };
  }
  return { place, area: record?.area?.text ?? inside?.label, district };
}

/**
 * Returns the problems of an entry that waits for a person or may still be sent; empty for others.
 * A reason counts only without issues. With places left out, a text that may reveal them is
 * replaced.
 */
function listProblems(entry: Entry, places: FindSources['places']): Problem[] {
  if (!['draft', 'queued', 'refused', 'uncertain'].includes(entry.state)) return [];
  // A text without an element may be one of the service with any content.
  const conceal = (message: string, element?: string): string =>
    places === 'shown' || (element !== undefined && !canRevealLocation(element))
      ? message
      : t`The problem is not shown here because it might reveal the place.`;
  if (entry.issues.length === 0 && entry.reason !== null && entry.state !== 'queued')
    return [{ severity: 'error', message: conceal(String(entry.reason)) }];
  return entry.issues.map(({ severity, element, message }) => ({
    severity,
    element,
    message: conceal(message, element),
  }));
}

/**
 * Tells if an element may reveal where the find was made: one of `chranene_udaje`, or one with
 * `revealsLocation`, such as note, finder and coordinate system. False for an unknown name.
 */
function canRevealLocation(name: string): boolean {
  return FIELDS.some(
    (field) =>
      field.name === name && (field.parent !== undefined || field.revealsLocation === true),
  );
}
