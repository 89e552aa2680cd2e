import { cmd, getLanguage, t } from '../base/message.ts';
import {
  canRevealLocation,
  FIELDS,
  type Field,
  type FindElements,
  getElementLabel,
  type Reference,
} from '../finds/fields.ts';
import type { LookupArea } from '../finds/find.ts';
import type { ChangeAtService, HarvestedFind } from '../finds/harvested-find.ts';
import { findPointInBothSystems } from '../finds/match-finds.ts';
import type { Term } from '../finds/vocabulary/term.ts';
import type { Entry, ImportEntry } from '../outbox/entry.ts';
import { listEntriesOfSubject } from '../outbox/entry-queries.ts';
import type { Photograph } from '../outbox/facts.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import type { StoredFind } from '../outbox/stored-finds.ts';
import { formatElementValue } from '../outbox/views/entry-words.ts';
import {
  countPhotographsAtService,
  findPulledRecord,
  formatChange,
  getFindAtService,
  type PulledRecord,
} from '../outbox/views/records-at-service.ts';
import {
  type Findspot,
  formatReportDay,
  type Label,
  type NextStep,
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
  /** The museum's terms that are mapped to an entry, by its identifier. */
  readonly ownTerms: ReadonlyMap<string, readonly string[]>;
};

/** Access to the data of finds; lookups of vocabularies are remembered, since finds repeat terms. */
export type FindSources = ReportSources & {
  readonly places: ReportSettings['places'];
  readonly findTerm: (ident: string) => Term | undefined;
  readonly findDistrict: (area: string) => string | undefined;
  readonly lookupArea: LookupArea;
};

/** The report's content of a find, and its photographs, whose files are not read yet. */
export type GatheredFind = {
  readonly find: ReportFind;
  readonly photographs: readonly Photograph[];
};

/**
 * Collects the report's content of one find, in the language of the command. Protected data are
 * left out here where places are, so that no page can contain them. Dropped imports and photographs
 * do not count. The photographs are only named: no file is read.
 * @param number of the find in the page, from 1
 */
export function collectReportFind(
  sources: FindSources,
  stored: StoredFind,
  number: number,
): GatheredFind {
  const { outbox, recordBase } = sources;
  const entries = listEntriesOfSubject(outbox, stored.uuid);
  const imported = entries.find(
    (entry): entry is ImportEntry => entry.kind === 'import' && entry.state !== 'dropped',
  );
  const identCely = imported?.identCely ?? undefined;
  const pulled = identCely === undefined ? undefined : findPulledRecord(outbox, identCely);
  const { elements, changes: differences } = getFindAtService(outbox, stored);
  const state = getReportState(entries, imported, elements, pulled);
  const photos = entries.flatMap((entry) =>
    entry.kind === 'photo' && entry.state !== 'dropped' ? [entry] : [],
  );
  const changes = entries.filter((entry) => entry.kind !== 'import');
  const countInState = (each: Entry['state']): number =>
    changes.filter((entry) => entry.state === each).length;
  const find: ReportFind = {
    number,
    localId: stored.localId,
    identCely,
    recordUrl:
      identCely === undefined || recordBase === undefined
        ? undefined
        : `${recordBase}/id/${encodeURIComponent(identCely)}`,
    state,
    stateNote: describeStandingOf(imported, pulled),
    period: findLabel(sources, elements.obdobi),
    objectType: findLabel(sources, elements.druh_nalezu),
    facts: [...listFacts(sources, elements), ...listShownDifferences(sources, differences)],
    acceptedMs: imported?.state === 'accepted' ? imported.updatedAt : undefined,
    accessibility: getAccessibility(sources, elements.pristupnost),
    ...makeFindspot(sources, elements, pulled?.record),
    problems: entries.flatMap((entry) => listProblems(entry, sources.places)),
    next: listNextSteps(stored.localId, {
      state,
      photographsSent: countPhotographsAtService(outbox, pulled, photos),
      changes: {
        queued: countInState('queued') + countInState('sending'),
        refused: countInState('refused'),
        uncertain: countInState('uncertain'),
      },
      isPulled: pulled !== undefined,
    }),
    otherWords: collectSearchWords(sources, elements),
  };
  return { find, photographs: photos.map(({ photograph }) => photograph) };
}

const AT_SERVICE: Readonly<Record<number, ReportState>> = {
  1: 'registered',
  2: 'submitted',
  3: 'confirmed',
  4: 'archived',
};

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

function describeStandingOf(
  imported: ImportEntry | undefined,
  pulled: PulledRecord | undefined,
): string | undefined {
  if (imported?.state === 'sending') return t`is being sent`;
  if (imported?.state !== 'accepted') return undefined;
  switch (pulled?.standing) {
    case undefined:
      return t`as sent`;
    case 'shown':
      return undefined;
    case 'withheld':
      return t`no longer shown to this account`;
    case 'deleted':
      return t`deleted there`;
    case 'missing':
      return t`not listed there`;
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

function collectSearchWords(
  { findTerm, ownTerms, places }: FindSources,
  elements: FindElements,
): string[] {
  const shownFields = FIELDS.filter(
    ({ name, set }) => set !== undefined && (places === 'shown' || !canRevealLocation(name)),
  );
  const words = shownFields.flatMap(({ name }) => {
    const value = elements[name];
    if (typeof value !== 'object') return [];
    const term = findTerm(value.id);
    const other = getLanguage() === 'en' ? term?.label : term?.labelEn;
    return [other ?? '', ...(ownTerms.get(value.id) ?? [])];
  });
  return [...new Set(words)].filter((word) => word !== '');
}

/** Returns the elements in the order of the report. */
function listFacts(sources: FindSources, elements: FindElements): ReportedFact[] {
  const shownFields = FIELDS.filter(
    ({ name }) => sources.places === 'shown' || !canRevealLocation(name),
  );
  return shownFields.flatMap((field): ReportedFact[] => {
    const { name, reportedAt: at = LAST_AT, reportedWith: before, shape } = field;
    if (at === null || before !== undefined) return [];
    const beside = shownFields.filter(({ reportedWith }) => reportedWith === name);
    const text = [field, ...beside]
      .map((each) => formatElement(sources, each, elements))
      .filter((each) => each !== '');
    return [{ at, label: getElementLabel(field), text: text.join(', '), shape }];
  });
}

/** Position of an element without one, and that of what follows all elements. */
const LAST_AT = 175;
const DIFFERENCES_AT = 180;

/**
 * Describes differences of the service's record from what was sent. The state is in the head of the
 * card.
 */
function listShownDifferences(
  { places }: FindSources,
  changes: readonly ChangeAtService[],
): ReportedFact[] {
  const shownChanges = changes.filter(
    ({ element }) => element !== 'stav' && (places === 'shown' || !canRevealLocation(element)),
  );
  const text = shownChanges.map(formatChange).join('; ');
  return text === ''
    ? []
    : [{ at: DIFFERENCES_AT, label: t`Changed in the service`, text, shape: 'wide' }];
}

function formatElement(sources: FindSources, field: Field, elements: FindElements): string {
  const value = elements[field.name];
  if (field.kind === 'date' && typeof value === 'string') return formatReportDay(value);
  if (typeof value !== 'object') return formatElementValue(field, value) ?? '';
  return field.set === undefined ? value.id : (findLabel(sources, value)?.text ?? '');
}

function getAccessibility(
  sources: FindSources,
  reference: Reference | undefined,
): ReportFind['accessibility'] {
  const label = findLabel(sources, reference);
  if (label === undefined) return undefined;
  const letter = sources.findTerm(label.id)?.abbreviation ?? undefined;
  return { ...label, letter: letter !== undefined && /^[A-E]$/.test(letter) ? letter : undefined };
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

type Situation = {
  readonly state: ReportState;
  readonly photographsSent: number;
  /** Photographs and registration numbers of the find, by the state of their entries. */
  readonly changes: Readonly<Record<'queued' | 'refused' | 'uncertain', number>>;
  /** A pull has found the record. */
  readonly isPulled: boolean;
};

/** Returns the next actions for a find; empty where it only has to wait, or is done. */
function listNextSteps(
  find: string,
  { state, photographsSent, changes, isPulled }: Situation,
): NextStep[] {
  const isAtService = Object.values(AT_SERVICE).includes(state);
  const lacksPhotograph = photographsSent === 0 && changes.queued === 0;
  const steps: (NextStep & { readonly isDue: boolean })[] = [
    {
      isDue: state === 'draft' || state === 'refused',
      text: t`Correct its row in the table and import the table again, or correct it here:`,
      command: cmd`pas edit ${find}`,
    },
    {
      isDue: state === 'refused',
      text: t`If the cause was in the service, send the same again:`,
      command: cmd`pas resolve ${find} --resend`,
    },
    {
      isDue: state === 'uncertain' || changes.uncertain > 0,
      text: t`pas cannot tell whether it arrived. Look it up:`,
      command: cmd`pas reconcile ${find}`,
    },
    {
      isDue: state === 'gone' || (changes.refused > 0 && state !== 'refused'),
      text: t`See what happened to it:`,
      command: cmd`pas show ${find}`,
    },
    {
      isDue: state === 'queued' || (changes.queued > 0 && isAtService),
      text: t`Send what is queued for it, when you are online.`,
      command: cmd`pas push ${find}`,
    },
    {
      isDue: lacksPhotograph && (state === 'submitted' || state === 'confirmed'),
      text: t`Add a photograph: the service archives no find without one.`,
      command: cmd`pas photo add ${find} FILE`,
    },
    {
      isDue: !isPulled && isAtService,
      text: t`Ask the service for its current state.`,
      command: cmd`pas pull`,
    },
    {
      isDue: state === 'unsent',
      text: t`Import its table again under this profile to queue it.`,
    },
  ];
  return steps.filter(({ isDue }) => isDue);
}
