import { resolve } from 'node:path';
import { type Issue, isReadable, makeErrorIssue, type Reading, toIssue } from '../../base/issue.ts';
import { t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import type { Setting } from '../../columns/column-rule.ts';
import { parseDefaults } from '../../columns/defaults.ts';
import type { RowContext } from '../../columns/map-row.ts';
import { findKeyProblem } from '../../columns/map-table.ts';
import { isOfPoint, orderElements, parseSetting, parseSettings } from '../../columns/settings.ts';
import type { FindElements } from '../../find/fields.ts';
import type { Find } from '../../find/find.ts';
import type { LookupTerm } from '../../find/lookup.ts';
import { findQuestion, getElementNames, pickCopiedElements } from '../../find/questions.ts';
import { rememberReferences } from '../../find/resolve-references.ts';
import { type ValidatedFind, type ValidationContext, validateFind } from '../../find/rules.ts';
import type { EntryState } from '../../outbox/entry.ts';
import { findImportOfFind } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { findByLocalId } from '../../outbox/stored-finds.ts';
import { readPhotoPosition } from '../../photo/photo-exif.ts';
import { makePhotoResolver } from '../../photo/photograph.ts';
import { type Position, parsePosition, writePosition } from '../../place/read-position.ts';
import { collapseUnchecked } from '../queue/collapse-issues.ts';
import { enqueueFinds } from '../queue/enqueue-finds.ts';
import { openNumberLookup } from '../queue/number-owners.ts';
import { createFindLookup, resolveFindNames } from '../queue/resolve-finds.ts';
import type { PhotographKeeping } from '../queue/store-photographs.ts';
import { withPosition } from './answer.ts';

export type AddingSources = {
  readonly outbox: Outbox;
  readonly ruleContext: ValidationContext & { readonly lookupTerm: LookupTerm };
  readonly keeping: PhotographKeeping;
  /** Base folder of file names. */
  readonly folder: string;
  readonly profile: string;
  /** Defaults of the configuration for new finds, and its path. */
  readonly configFile: string;
  readonly defaults: Parameters<typeof parseDefaults>[1];
};

/** Values given before the questions. */
export type Beginning = {
  /** `element=value` */
  readonly set?: readonly string[];
  /** Another find, whose copyable elements are used. */
  readonly sameAs?: string;
  readonly point?: string;
  /** Photograph whose GPS position is used. */
  readonly pointFrom?: string;
  readonly photo?: readonly string[];
};

type Intent = 'send' | 'draft' | 'unfinished';

/** Without uuid and state, nothing was saved. */
export type SavedFind = {
  readonly uuid: string | null;
  readonly find: Find;
  readonly state: EntryState | null;
  readonly photosAdded: number;
  readonly issues: readonly Issue[];
};

export const NEW_FIND: Find = { localId: '', elements: {}, photos: [] };

/** Common part of adding a find by flags and by questions. */
export type EntrySession = ReturnType<typeof openEntrySession>;

/**
 * Opens the entry of finds by hand.
 * @throws ConfigError where the defaults in config.toml are invalid
 */
export function openEntrySession(
  { outbox, ruleContext, keeping, folder, ...sources }: AddingSources,
  beginning: Beginning,
) {
  const references = {
    resolveReference: rememberReferences(ruleContext.lookupTerm),
    resolvePhoto: makePhotoResolver(folder),
  };
  const enteredNow = new Set<string>();
  const validate = (find: Find): ValidatedFind =>
    validateFind(find, { ...ruleContext, lookupNumber: openNumberLookup(outbox) });
  const isTaken = (localId: string): boolean => createFindLookup(outbox)(localId) !== undefined;
  const { inspectPhotograph } = keeping;
  const defaults = parseDefaults(sources.configFile, sources.defaults);
  return {
    outbox,
    answers: {
      ...ruleContext,
      ...references,
      folder,
      isTaken,
      inspectPhotograph,
      readPhotoPosition,
    },
    suggestions: {
      ...references,
      outbox,
      profile: sources.profile,
      defaults,
      today: ruleContext.today,
      enteredNow,
    },
    check: (find: Find): readonly Issue[] => validate(find).issues,
    /** Saves it in the outbox: queued if it is complete and to be sent, else as a draft. */
    async save(find: Find, intent: Intent): Promise<SavedFind> {
      const context = {
        ...keeping,
        outbox,
        validate: withDraftIntent(validate, intent),
        dryRun: false,
      };
      const { finds, issues, unchecked } = await enqueueFinds([find], context);
      if (intent !== 'unfinished') enteredNow.add(find.localId);
      const uuid = findByLocalId(outbox, find.localId)?.uuid ?? null;
      const state = findImportOfFind(outbox, uuid ?? '')?.state ?? 'draft';
      const reported = issues.filter(({ rule }) => rule !== DRAFT_RULE);
      return {
        uuid,
        find,
        state,
        photosAdded: finds[0]?.photosAdded ?? 0,
        issues: collapseUnchecked(reported, unchecked),
      };
    },
    /** Makes the initial find; only the first one has the given point and photographs. */
    start: (base: Find, which: 'first' | 'further') => {
      const lent =
        beginning.sameAs === undefined ? {} : getPrefilledElements(outbox, beginning.sameAs);
      const begun = { ...base, elements: { ...lent, ...base.elements } };
      return startFind(begun, which === 'first' ? beginning : {}, { ...references, folder });
    },
  };
}

/** @throws UsageError when there is no such find */
function getPrefilledElements(outbox: Outbox, named: string): FindElements {
  const [lender] = resolveFindNames(outbox, [named]);
  return pickCopiedElements((lender?.elements ?? {}) as FindElements);
}

/** @param base of a new find: empty, or the elements in common with another one */
async function startFind(
  base: Find,
  { set = [], point, pointFrom, photo = [] }: Beginning,
  context: RowContext & { readonly folder: string },
): Promise<{ readonly find: Find; readonly issues: readonly Issue[] }> {
  const parsed = set.map(parseSetting);
  const issues: Issue[] = parsed.filter((each) => 'rule' in each);
  const settings = parsed.filter((each) => 'value' in each);
  const givenId = settings.find(({ name }) => name === 'local_id')?.value;
  const localId = givenId ?? base.localId;
  const problem = givenId === undefined ? undefined : findKeyProblem(givenId);
  if (problem !== undefined)
    issues.push(makeErrorIssue('local-id', problem, { column: 'local_id' }));
  const otherSettings = settings.filter(({ name }) => name !== 'local_id');
  const settled = parseSettings(otherSettings, localId, context);
  issues.push(...settled.issues);
  const elements = orderElements({ ...withoutNamed(base.elements, settings), ...settled.elements });
  const photos = new Set([
    ...base.photos,
    ...settled.photos,
    ...photo.map((file) => resolve(context.folder, file)),
  ]);
  const find: Find = { localId, elements, photos: [...photos] };
  const ofPoint = point === undefined ? undefined : parsePosition(point);
  const position =
    pointFrom === undefined ? ofPoint : await readPhotoPosition(resolve(context.folder, pointFrom));
  if (position === undefined) return { find, issues };
  const certain = requireUnambiguous(position, localId);
  return 'rule' in certain
    ? { find, issues: [...issues, certain] }
    : { find: withPosition(find, certain), issues };
}

/** Accepts a point from a flag only without doubt, since there is no question to confirm it. */
export function requireUnambiguous(reading: Reading<Position>, find: string): Position | Issue {
  const where = { find, element: 'geom_wkt' };
  if (!isReadable(reading)) return toIssue(reading, where);
  const { doubt } = reading.value;
  if (doubt === undefined) return reading.value;
  const meant = writePosition(reading.value);
  return makeErrorIssue(
    'geometry-doubt',
    t`${doubt} If you mean ${meant}, write it that way.`,
    where,
  );
}

/** Removes copied elements that are given again, even as empty; a point is replaced as a whole. */
export function withoutNamed(elements: FindElements, settings: readonly Setting[]): FindElements {
  const namedKeys = new Set(
    settings.flatMap(({ name }) => {
      if (isOfPoint(name)) return getElementNames('point');
      const question = findQuestion(name);
      return question === undefined ? [] : getElementNames(question.name);
    }),
  );
  return Object.fromEntries(
    Object.entries(elements).filter(([name]) => !namedKeys.has(name as keyof FindElements)),
  );
}

const DRAFT_RULE = 'kept-as-draft';

/**
 * Makes the validation that keeps a complete find as a draft while it is being entered, or on
 * request.
 */
export function withDraftIntent(
  validate: (find: Find) => ValidatedFind,
  intent: Intent,
): (find: Find) => ValidatedFind {
  if (intent === 'send') return validate;
  return (find) => {
    const { document, issues } = validate(find);
    const { localId } = find;
    const reason = t`The find is kept as a draft. To finish it: ${cmd`pas add --resume ${localId}`}`;
    return { document, issues: [...issues, makeErrorIssue(DRAFT_RULE, reason, { find: localId })] };
  };
}
