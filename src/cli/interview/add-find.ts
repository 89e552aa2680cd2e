import { resolve } from 'node:path';
import { InterruptedError, UsageError } from '../../base/errors.ts';
import { hasErrors, type Issue, makeErrorIssue } from '../../base/issue.ts';
import { cmd, t } from '../../base/message.ts';
import type { FindElements } from '../../finds/fields.ts';
import { type Find, KEPT_AS_DRAFT, makeNextLocalId } from '../../finds/find.ts';
import { FIND_QUESTIONS, pickRepeatedElements } from '../../finds/questions.ts';
import { makeReferenceResolver } from '../../finds/resolve-references.ts';
import { type ValidatedFind, validateFind } from '../../finds/rules.ts';
import { makeNumberLookup } from '../../outbox/changes/enqueue-change.ts';
import { enqueueFinds } from '../../outbox/changes/enqueue-finds.ts';
import { findNamedFinds, makeFindLookup } from '../../outbox/changes/resolve-finds.ts';
import type { EntryState } from '../../outbox/entry.ts';
import { findImportOfFind } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { findByLocalId, listLatestFinds } from '../../outbox/stored-finds.ts';
import { updateFindWish } from '../../outbox/wishes.ts';
import { collapseRepeatedWarnings } from '../../tables/collapse-issues.ts';
import type { RowContext } from '../../tables/columns/map-row.ts';
import { findLocalIdProblem } from '../../tables/columns/map-table.ts';
import {
  mergeDefaults,
  orderElements,
  parseDefaults,
  parseSettings,
  parseSettingTexts,
} from '../../tables/columns/settings.ts';
import type { Context } from '../context/context.ts';
import {
  makePhotographKeepingOfProfile,
  openConversionContext,
  openTermOffers,
} from '../context/find-input.ts';
import { applySettings, readAnswer, readPosition } from './answer.ts';
import { type InterviewContext, type InterviewResult, runInterview } from './interview.ts';

/** Values given before the questions. */
export type GivenAnswers = {
  /** `element=value` */
  readonly set?: readonly string[];
  /** Name of another find, whose elements are copied, except those that distinguish finds. */
  readonly sameAs?: string;
  /** A position as typed, or the file of a photograph that has one. */
  readonly point?: string;
};

type Goal = InterviewResult['goal'];

/**
 * A find after an attempt to save it; `uuid` and `state` are null where nothing was saved.
 * `photosAdded` is the number of photographs that were queued.
 */
export type SavedFind = {
  readonly uuid: string | null;
  readonly find: Find;
  readonly state: EntryState | null;
  readonly photosAdded: number;
  readonly issues: readonly Issue[];
};

/** A find without number, elements and photographs, from which each new one begins. */
export const NEW_FIND: Find = { localId: '', elements: {}, photos: [] };

/** Common part of adding a find by flags and by questions. */
export type AddingSession = Awaited<ReturnType<typeof openAddingSession>>;

/**
 * Opens the session in which finds are entered by hand, one after another. Nothing is stored before
 * `save`.
 * @param beginning values of the first find; later ones have only those of `sameAs`
 * @throws ConfigError where the schema, the outbox or the defaults in config.toml cannot be used;
 * DatabaseError where outbox or vocabulary is unusable
 */
export async function openAddingSession(context: Context, beginning: GivenAnswers) {
  const outbox = await context.openOutbox();
  const ruleContext = await openConversionContext(context);
  const keeping = makePhotographKeepingOfProfile(context);
  const validate = (find: Find): ValidatedFind =>
    validateFind(find, { ...ruleContext, lookupNumber: makeNumberLookup(outbox) });
  const { cwd: folder, places } = context;
  const addingContext = {
    ...ruleContext,
    ...keeping,
    outbox,
    validate,
    folder,
    resolveReference: makeReferenceResolver(ruleContext.lookupTerm),
    // One that is not there is refused with the other errors.
    resolvePhoto: (name: string) => ({ value: resolve(folder, name) }),
    isTaken: (localId: string): boolean => makeFindLookup(outbox)(localId) !== undefined,
    profile: context.getProfile().name,
    defaults: parseDefaults(places.configFile, context.getConfig().defaults),
    /** Local ids of finds entered in this session: the next one gets the same day. */
    enteredNow: new Set<string>(),
  };
  return {
    outbox,
    context: addingContext,
    check: (find: Find): readonly Issue[] => validate(find).issues,
    /** Saves a find in the outbox: queued if it is complete and to be sent, else as a draft. */
    save: (find: Find, goal: Goal): Promise<SavedFind> => saveFind(addingContext, find, goal),
    /** Makes the initial find; only the first one has the given point and photographs. */
    start: (base: Find, which: 'first' | 'further') => {
      const { sameAs } = beginning;
      const lent = sameAs === undefined ? {} : getCopiedElements(outbox, sameAs);
      const begun = { ...base, elements: { ...lent, ...base.elements } };
      return startFind(begun, which === 'first' ? beginning : {}, addingContext);
    },
  };
}

type AddingContext = AddingSession['context'];

async function saveFind(context: AddingContext, find: Find, goal: Goal): Promise<SavedFind> {
  const { outbox, enteredNow } = context;
  const { finds, issues } = await enqueueFinds([find], {
    inspectPhotograph: context.inspectPhotograph,
    storePhotograph: context.storePhotograph,
    outbox,
    validate: makeValidationForGoal(context.validate, goal),
    dryRun: false,
  });
  enteredNow.add(find.localId);
  const uuid = findByLocalId(outbox, find.localId)?.uuid ?? null;
  const reported = issues.filter(({ rule }) => rule !== KEPT_AS_DRAFT);
  return {
    uuid,
    find,
    state: findImportOfFind(outbox, uuid ?? '')?.state ?? 'draft',
    photosAdded: finds[0]?.photosAdded ?? 0,
    issues: collapseRepeatedWarnings(reported),
  };
}

/**
 * Returns the elements that a find may have in common with another one.
 * @throws UsageError when there is no such find, or the name is ambiguous
 */
function getCopiedElements(outbox: Outbox, named: string): FindElements {
  const [lender] = findNamedFinds(outbox, [named]);
  return pickRepeatedElements(lender?.elements ?? {}, 'copied');
}

/**
 * Makes a new find with the given values, which count before those of `base`. A value that cannot
 * be read is among the issues.
 * @param base of a new find: empty, or the elements in common with another one
 * @throws UsageError for a setting without a known element, or one that is given twice
 */
async function startFind(
  base: Find,
  { set = [], point }: GivenAnswers,
  context: RowContext & { readonly folder: string },
): Promise<{ readonly find: Find; readonly issues: readonly Issue[] }> {
  const settings = parseSettingTexts(set);
  const givenId = settings.find(({ name }) => name === 'local_id')?.value;
  const problem = givenId === undefined ? undefined : findLocalIdProblem(givenId);
  const { find, issues } = applySettings(
    { ...base, localId: givenId ?? base.localId },
    settings.filter(({ name }) => name !== 'local_id'),
    point === undefined ? undefined : await readPosition(point, context.folder),
    context,
  );
  if (problem !== undefined)
    issues.push(makeErrorIssue('local-id', problem, { column: 'local_id' }));
  return { find, issues };
}

/**
 * Makes from a validation the one for a goal. With `draft` every find, also a complete one, gets an
 * error that says that it is kept as a draft; with `send` it is the given one.
 */
export function makeValidationForGoal(
  validate: (find: Find) => ValidatedFind,
  goal: Goal,
): (find: Find) => ValidatedFind {
  if (goal === 'send') return validate;
  return (find) => {
    const { document, issues } = validate(find);
    const { localId } = find;
    const reason = t`The find is kept as a draft. To finish it: ${cmd`pas edit ${localId}`}`;
    return {
      document,
      issues: [...issues, makeErrorIssue(KEPT_AS_DRAFT, reason, { find: localId })],
    };
  };
}

/**
 * `asAsked`: all input was understood, and the find is queued, or was sent before, or is the draft
 * that was requested.
 */
type AddResult = SavedFind & { readonly asAsked: boolean };

/**
 * Adds a find from flags, with the defaults of config.toml, and with the next local id where none
 * is given. With an error it is stored only for the goal `draft`, which keeps also a complete find
 * as a draft. A find with the local id and elements of a stored one is accepted again, since a
 * script may run again.
 * @throws UsageError where another find has its local id or one that is alike, or a setting has no
 * known element
 */
export async function addFindFromFlags(adding: AddingSession, goal: Goal): Promise<AddResult> {
  const { localId } = suggestValues(NEW_FIND, adding.context);
  const { find: begun, issues: unreadable } = await adding.start({ ...NEW_FIND, localId }, 'first');
  const find = withDefaults(adding, begun);
  assertLocalIdIsFree(adding, find);
  // A value that was given but cannot be read would be reported as missing, too.
  const wrong = hasErrors(unreadable)
    ? unreadable
    : [...unreadable, ...(await checkPhotographs(adding, find)), ...adding.check(find)];
  if (hasErrors(wrong) && goal === 'send')
    return { uuid: null, find, state: null, photosAdded: 0, issues: wrong, asAsked: false };
  const saved = await adding.save(find, goal);
  const { state } = saved;
  const isAsMeant = goal === 'draft' || state === 'queued' || state === 'accepted';
  const asAsked = !hasErrors(unreadable) && isAsMeant;
  return { ...saved, issues: [...unreadable, ...saved.issues], asAsked };
}

function withDefaults({ context }: AddingSession, find: Find): Find {
  const { projekt: project = getDefaultElements(context).projekt } = find.elements;
  const defaults = getDefaultElements(context, project?.id);
  return { ...find, elements: orderElements({ ...defaults, ...find.elements }) };
}

/** @throws UsageError where a find with other elements has the local id, or one that is alike */
function assertLocalIdIsFree({ outbox }: AddingSession, { localId, elements }: Find): void {
  const stored = makeFindLookup(outbox)(localId);
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
  { context }: AddingSession,
  { photos, localId }: Find,
): Promise<Issue[]> {
  const inspected = await Promise.all(photos.map((path) => context.inspectPhotograph(path)));
  return inspected.flatMap(({ issues }) => issues.map((issue) => issue.with({ find: localId })));
}

/**
 * Opens the parts of an interview that do not depend on the find: questions, prompt, offers, and
 * the reading and checks of answers. Nothing is asked yet.
 * @throws DatabaseError where the vocabulary is unusable
 */
export async function openInterview(context: Context, session: AddingSession) {
  const read: InterviewContext['read'] = (question, text, find) =>
    readAnswer(question, text, find, session.context);
  return {
    prompt: await context.prompt(),
    say: context.terminal.note,
    offerTerms: await openTermOffers(context),
    questions: FIND_QUESTIONS,
    read,
    check: session.check,
  };
}

/**
 * Asks for one find, and saves it as the person decides at the end. Until then it is saved as a
 * draft after every answer that changes it; its photographs only at the end, or on Ctrl-C.
 * @param parts from {@link openInterview}
 * @param start values that are not asked for, from `start` of the session
 * @param isDraft keep it as a draft, whatever the person decides
 * @throws InterruptedError on Ctrl-C, with a message that tells what was saved
 */
export async function addFindByAsking(
  { outbox, context, save }: AddingSession,
  parts: Awaited<ReturnType<typeof openInterview>>,
  start: Find,
  isDraft: boolean,
): Promise<SavedFind> {
  let last: Find | undefined;
  const interview: InterviewContext = {
    ...parts,
    suggest: (find) => suggestValues(find, context),
    keep: async (find, before) => {
      if (Object.keys(find.elements).length === 0 && find.photos.length === 0) return;
      const kept =
        before.localId === find.localId ? undefined : findByLocalId(outbox, before.localId);
      if (kept !== undefined) updateFindWish(outbox, kept, { localId: find.localId });
      // Photographs are queued with the last answer, since until then one of them may be removed.
      await save({ ...find, photos: [] }, 'draft');
      last = find;
    },
  };
  try {
    const { find, goal } = await runInterview(start, interview);
    return await save(find, isDraft ? 'draft' : goal);
  } catch (thrown) {
    if (!(thrown instanceof InterruptedError)) throw thrown;
    if (last === undefined) throw new InterruptedError(t`Interrupted. Nothing was entered yet.`);
    await save(last, 'draft');
    throw new InterruptedError(t`Interrupted. ${last.localId} is kept as a draft.`, {
      hint: t`Continue it: ${cmd`pas edit ${last.localId}`}`,
    });
  }
}

/** Number of recent finds that provide suggestions; those of a phone or a table may be the last. */
const LATEST = 500;

/**
 * Returns the suggestions for a find: the next local id, and values of the last finds of its
 * project (by default the project of the last find), else defaults of the project or the profile.
 * The day is that of the last find if it was entered in this session, else today.
 */
function suggestValues(find: Find, context: AddingContext): Find {
  const { outbox, today, enteredNow } = context;
  const latest = listLatestFinds(outbox, LATEST)
    .filter(({ localId }) => localId !== find.localId)
    .map(({ localId, elements }) => ({ localId, elements }));
  const project =
    find.elements.projekt?.id ??
    latest.map(({ elements }) => elements.projekt?.id).find((id) => id !== undefined);
  const ofProject = latest.filter(({ elements }) => elements.projekt?.id === project);
  // An element that the last find lacks is suggested from the one before it.
  const carried: FindElements = Object.assign(
    {},
    ...ofProject.map(({ elements }) => pickRepeatedElements(elements, 'carried')).reverse(),
  );
  const isSameDay = ofProject[0] !== undefined && enteredNow.has(ofProject[0].localId);
  return {
    localId: makeNextLocalId(
      latest.map(({ localId }) => localId),
      (id) => findByLocalId(outbox, id) !== undefined,
    ),
    elements: orderElements({
      ...getDefaultElements(context, project),
      ...carried,
      datum_nalezu: (isSameDay ? carried.datum_nalezu : undefined) ?? today,
    }),
    photos: [],
  };
}

/** Returns the defaults as elements; one that cannot be read now, such as an entry, is left out. */
function getDefaultElements(context: AddingContext, project?: string): FindElements {
  const { defaults, profile } = context;
  return parseSettings(mergeDefaults(defaults, profile, project), '', context).elements;
}
