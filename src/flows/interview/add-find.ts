import { InterruptedError, UsageError } from '../../base/errors.ts';
import { hasErrors, type Issue } from '../../base/issue.ts';
import { t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import { type DefaultsFile, type FindDefaults, mergeDefaults } from '../../columns/defaults.ts';
import type { RowContext } from '../../columns/map-row.ts';
import { orderElements, parseSettings } from '../../columns/settings.ts';
import type { FindElements } from '../../find/fields.ts';
import type { Find } from '../../find/find.ts';
import { isMadeByProgram, makeNextLocalId } from '../../find/next-local-id.ts';
import { pickCarriedElements } from '../../find/questions.ts';
import { findImportOfFind } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { findByLocalId, listLatestFinds, type StoredFind } from '../../outbox/stored-finds.ts';
import { changeWish } from '../../outbox/wishes.ts';
import type { Prompt } from '../../ui/prompt.ts';
import { createFindLookup, resolveFindNames } from '../queue/resolve-finds.ts';
import { parseAnswer } from './answer.ts';
import { type EntrySession, NEW_FIND, type SavedFind } from './entry-session.ts';
import { runInterview } from './interview.ts';
import type { InterviewContext, SuggestedValues } from './interview-question.ts';
import { makeOfferTerms, type OfferSources } from './offer-terms.ts';

/** `asAsked`: all input was understood, and the find is queued, or the draft that was requested. */
type AddResult = SavedFind & { readonly asAsked: boolean };

/**
 * Adds a find from flags; one with an error only as a draft on request.
 * @param resumed the find that is continued
 */
export async function addFind(
  adding: EntrySession,
  resumed: Find | undefined,
  isDraft: boolean,
): Promise<AddResult> {
  const { find: begun, issues: unreadable } = await adding.start(
    resumed ?? makeNumberedFind(adding),
    'first',
  );
  const find = withDefaults(adding, begun);
  if (find.localId !== resumed?.localId) assertFree(adding, find);
  // A value that was given but cannot be read is not reported as missing.
  const unread = unreadable
    .filter(({ severity }) => severity === 'error')
    .map(({ element }) => element);
  // A point implies its coordinate system.
  const givenNames = new Set(
    unread.some((element) => element === 'geom_wkt') ? [...unread, 'geom_system'] : unread,
  );
  const missing = adding.check(find).filter(({ element }) => !givenNames.has(element));
  const wrong = [...unreadable, ...(await checkPhotographs(adding, find)), ...missing];
  if (hasErrors(wrong) && !isDraft)
    return { uuid: null, find, state: null, photosAdded: 0, issues: wrong, asAsked: false };
  const saved = await adding.save(find, isDraft ? 'draft' : 'send');
  const asAsked = !hasErrors(unreadable) && (isDraft || saved.state === 'queued');
  return { ...saved, issues: [...unreadable, ...saved.issues], asAsked };
}

/** Makes an empty find whose number continues the last one. */
function makeNumberedFind({ suggestions }: EntrySession): Find {
  return { ...NEW_FIND, localId: suggestValues(NEW_FIND, suggestions).localId };
}

function withDefaults({ suggestions }: EntrySession, find: Find): Find {
  const { defaults: file, profile } = suggestions;
  const project =
    find.elements.projekt ??
    makeStartingElements(mergeDefaults(file, profile, undefined), suggestions).projekt;
  const defaults = makeStartingElements(mergeDefaults(file, profile, project?.id), suggestions);
  return { ...find, elements: orderElements({ ...defaults, ...find.elements }) };
}

/** An identical find is accepted, since a script may run again. */
function assertFree({ outbox }: EntrySession, { localId, elements }: Find): void {
  const stored = createFindLookup(outbox)(localId);
  if (stored === undefined) return;
  const names = 'alike' in stored ? stored.alike : [stored.localId];
  const [name = localId] = names;
  if (
    !('alike' in stored) &&
    name === localId &&
    JSON.stringify(stored.elements) === JSON.stringify(elements)
  )
    return;
  throw new UsageError(t`There is already a find ${name}.`, {
    hint: t`Give another local_id, or none. To see the existing find: ${cmd`pas show ${name}`}`,
  });
}

async function checkPhotographs(
  { answers }: EntrySession,
  { photos, localId }: Find,
): Promise<Issue[]> {
  const inspected = await Promise.all(photos.map((path) => answers.inspectPhotograph(path)));
  return inspected.flatMap(({ issues }) => issues.map((issue) => issue.with({ find: localId })));
}

export type Asking = {
  readonly prompt: Prompt;
  readonly say: (text: string) => void;
  readonly offers: OfferSources;
};

/**
 * Returns the data for the questions about a find; entries of the newest finds are suggested first.
 */
export function makeInterview(
  { outbox, answers, check }: EntrySession,
  { offers, ...asking }: Asking,
) {
  const latest = listLatestFinds(outbox, LATEST).map(({ elements }) => elements as FindElements);
  const read: InterviewContext['read'] = (question, text, find) =>
    parseAnswer(question, text, find, answers);
  return { ...asking, read, check, offerTerms: makeOfferTerms({ ...offers, latest }) };
}

/**
 * Asks for one find, which is saved after every answer.
 * @throws InterruptedError on Ctrl-C, with what was saved
 */
export async function enterFind(
  adding: EntrySession,
  start: Find,
  isDraft: boolean,
  asking: Asking,
): Promise<SavedFind> {
  const { outbox, suggestions, save } = adding;
  const keptFinds: Find[] = [];
  const world: InterviewContext = {
    ...makeInterview(adding, asking),
    suggest: (find) => suggestValues(find, suggestions),
    keep: async (find, before) => {
      if (Object.keys(find.elements).length === 0 && find.photos.length === 0) return;
      const kept =
        before.localId === find.localId ? undefined : findByLocalId(outbox, before.localId);
      if (kept !== undefined) changeWish(outbox, kept, { localId: find.localId });
      // Photographs are queued with the last answer, since until then one of them may be removed.
      await save({ ...find, photos: [] }, 'unfinished');
      keptFinds[0] = find;
    },
  };
  try {
    const { find, intent } = await runInterview(start, world);
    return await save(find, isDraft ? 'draft' : intent);
  } catch (thrown) {
    if (!(thrown instanceof InterruptedError)) throw thrown;
    const [last] = keptFinds;
    if (last === undefined) throw new InterruptedError(t`Interrupted. Nothing was entered yet.`);
    await save(last, 'unfinished');
    throw new InterruptedError(t`Interrupted. ${last.localId} is kept as a draft.`, {
      hint: t`Continue it: ${cmd`pas add --resume`}`,
    });
  }
}

/**
 * Returns the named find, else the last unfinished one by hand.
 * @throws UsageError when there is none, or it was sent already
 */
export function findToResume(outbox: Outbox, named: string | undefined): Find {
  const stored =
    named === undefined ? findLastUnfinished(outbox) : resolveFindNames(outbox, [named])[0];
  if (stored === undefined)
    throw new UsageError(t`There is no unfinished find.`, {
      hint: t`Start one with \`${cmd`pas add`}\`.`,
    });
  const state = findImportOfFind(outbox, stored.uuid)?.state ?? 'draft';
  if (state !== 'draft' && state !== 'queued' && state !== 'refused') {
    throw new UsageError(
      t`${stored.localId} was sent or dropped: it can no longer be changed here.`,
      {
        hint: cmd`pas show ${stored.localId}`,
      },
    );
  }
  return { localId: stored.localId, elements: stored.elements as FindElements, photos: [] };
}

const MAX_INSPECTED = 500;

/** Returns the last draft entered by hand, among the latest {@link MAX_INSPECTED} finds. */
export function findLastUnfinished(outbox: Outbox): StoredFind | undefined {
  return listLatestFinds(outbox, MAX_INSPECTED).find(
    ({ uuid, wish }) => wish.file === null && findImportOfFind(outbox, uuid)?.state === 'draft',
  );
}

type SuggestContext = RowContext & {
  readonly outbox: Outbox;
  readonly profile: string;
  readonly defaults: DefaultsFile;
  /** YYYY-MM-DD */
  readonly today: string;
  /** Finds entered in this session: the next one gets the same day. */
  readonly enteredNow: ReadonlySet<string>;
};

/** Number of recent finds that provide suggestions. */
const LATEST = 40;

/**
 * Returns the suggestions for a find: values of its project's last finds, else defaults of the
 * project or the profile.
 */
function suggestValues(find: Find, context: SuggestContext): SuggestedValues {
  const { outbox, profile, defaults, today, enteredNow } = context;
  const latest = listLatestFinds(outbox, LATEST).filter(({ localId }) => localId !== find.localId);
  const getElements = (stored: {
    readonly elements: Readonly<Record<string, unknown>>;
  }): FindElements => stored.elements as FindElements;
  const chosen = find.elements.projekt?.id;
  const project =
    chosen ??
    latest.map((stored) => getElements(stored).projekt?.id).find((id) => id !== undefined);
  const ofProject = latest.filter((stored) => getElements(stored).projekt?.id === project);
  // An element that the last find lacks is suggested from the one before it.
  const carried: FindElements = Object.assign(
    {},
    ...ofProject.map((stored) => pickCarriedElements(getElements(stored))).reverse(),
  );
  const isSameDay = ofProject[0] !== undefined && enteredNow.has(ofProject[0].localId);
  return {
    localId: makeNextLocalId(
      listGivenNumbers(latest, outbox),
      (id) => findByLocalId(outbox, id) !== undefined,
    ),
    elements: orderElements({
      ...makeStartingElements(mergeDefaults(defaults, profile, project), context),
      ...carried,
      datum_nalezu: (isSameDay ? carried.datum_nalezu : undefined) ?? today,
    }),
  };
}

/**
 * Returns the numbers that people assigned, skipping those from phones and tables without numbers.
 */
function listGivenNumbers(latest: readonly StoredFind[], outbox: Outbox): string[] {
  const looked = latest.every(({ localId }) => isMadeByProgram(localId))
    ? listLatestFinds(outbox, MAX_INSPECTED)
    : latest;
  return looked.map(({ localId }) => localId);
}

/**
 * Converts defaults to elements; an unresolvable entry is left out, since it is only a suggestion.
 */
function makeStartingElements(defaults: FindDefaults, context: RowContext): FindElements {
  return parseSettings(defaults, '', context).elements;
}
