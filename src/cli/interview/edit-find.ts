import { UsageError } from '../../base/errors.ts';
import { hasErrors, type Issue, type Reading } from '../../base/issue.ts';
import { cmd, msg, t } from '../../base/message.ts';
import { type ElementName, FIELDS, type FindElements } from '../../finds/fields.ts';
import type { Find, LookupTerm } from '../../finds/find.ts';
import { formatWithIdentifier } from '../../finds/harvested-find.ts';
import type { Position } from '../../finds/place/read-position.ts';
import { makeReferenceResolver } from '../../finds/resolve-references.ts';
import { type ValidationContext, validateFind } from '../../finds/rules.ts';
import { makeNumberLookup, withdrawQueuedNumber } from '../../outbox/changes/enqueue-change.ts';
import { makePreparedDocument } from '../../outbox/changes/enqueue-finds.ts';
import { type EntryState, isAnswerable } from '../../outbox/entry.ts';
import { findImportOfFind, getWantedElements } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { findByUuid, type StoredFind } from '../../outbox/stored-finds.ts';
import { recordFindWish } from '../../outbox/wishes.ts';
import { IDENTIFYING_COLUMNS, type Setting } from '../../tables/columns/column-meaning.ts';
import { makeNotSharedMessage, parseSettingTexts } from '../../tables/columns/settings.ts';
import { makeValidationForGoal } from './add-find.ts';
import { applySettings } from './answer.ts';
import type { InterviewResult } from './interview.ts';

type EditContext = {
  readonly outbox: Outbox;
  readonly ruleContext: ValidationContext & { readonly lookupTerm: LookupTerm };
};

/** A change of an element, in words; null where it is absent. */
type ElementChange = {
  readonly element: ElementName;
  readonly was: string | null;
  readonly is: string | null;
};

/** An edit of a find that can be stored. */
export type PlannedEdit = {
  readonly stored: StoredFind;
  /** Empty where only the state changes, or of two versions the shown one is wanted. */
  readonly changes: readonly ElementChange[];
  /**
   * Stores the edit; a complete find is queued, unless a person keeps it as a draft.
   * @throws UsageError where the find was sent or changed meanwhile
   */
  readonly store: () => { readonly state: EntryState; readonly issues: readonly Issue[] };
};

/** Plans of edits; `issues` has the errors of values, and a find that has one has no plan. */
type PlannedEdits = {
  readonly planned: readonly PlannedEdit[];
  readonly refused: readonly { readonly find: string; readonly because: string }[];
  readonly issues: Issue[];
};

/**
 * Plans the same change of all these finds; nothing is stored. A find that would not change has no
 * plan. One of several that was sent, may have been sent or was dropped is among `refused`, and
 * does not prevent the others.
 * @param texts `element=value`; an empty value removes the element
 * @param point reading of `--point`, which replaces the find's coordinates
 * @throws UsageError for an invalid setting, one number for several finds, or where the only find
 * cannot be edited
 */
export function planEdits(
  context: EditContext,
  finds: readonly StoredFind[],
  texts: readonly string[],
  point?: Reading<Position>,
): PlannedEdits {
  const settings = parseEditSettings(texts, finds.length);
  const resolveReference = makeReferenceResolver(context.ruleContext.lookupTerm);
  const planned: PlannedEdit[] = [];
  const refused: { find: string; because: string }[] = [];
  const issues: Issue[] = [];
  for (const stored of finds) {
    try {
      const find = getEditableFind(context, stored);
      const read = applySettings(find, settings, point, { resolveReference });
      if (hasErrors(read.issues)) issues.push(...read.issues);
      else planned.push(...planEdit(context, stored, { ...read, goal: 'send' }));
    } catch (thrown) {
      if (!(thrown instanceof UsageError) || finds.length === 1) throw thrown;
      refused.push({ find: stored.localId, because: thrown.message });
    }
  }
  return { planned, refused, issues };
}

/** @throws UsageError for an invalid setting, or one number for several finds */
function parseEditSettings(texts: readonly string[], findCount: number): readonly Setting[] {
  const settings = parseSettingTexts(texts);
  for (const { name } of settings) {
    if (name === 'photos')
      throw new UsageError(msg`Photographs are not edited here: ${cmd`pas photo add`} FIND FILE`);
    if (IDENTIFYING_COLUMNS.includes(name))
      throw new UsageError(msg`${name} cannot be changed. Leave it out.`);
  }
  const shared = settings.find(({ name, value }) => name === 'evidencni_cislo' && value !== '');
  if (shared !== undefined && findCount > 1)
    throw new UsageError(makeNotSharedMessage(shared.givenName));
  return settings;
}

/**
 * Plans the edit of a find by the answers of a person; nothing is stored.
 * @param ask called once, with the find without its photographs
 * @throws UsageError where the find was sent, may have been sent or was dropped; errors of `ask`
 */
export async function planAnsweredEdit(
  context: EditContext,
  stored: StoredFind,
  ask: (find: Find) => Promise<InterviewResult>,
): Promise<PlannedEdits> {
  const answered = await ask(getEditableFind(context, stored));
  return {
    planned: planEdit(context, stored, { ...answered, issues: [] }),
    refused: [],
    issues: [],
  };
}

/**
 * Replaces the finder of unsent finds by a person of the vocabulary, and stores one find after
 * another. A find in which the identifier is no valid finder stays as it is.
 * @param finds their uuids; unknown ones are passed over, and where there are several, those that
 * were sent, too
 * @param id identifier of the person
 * @throws UsageError where the only find was sent, or one was changed meanwhile; those before it
 * stay stored
 */
export function replaceFinder(context: EditContext, finds: readonly string[], id: string): void {
  const stored = finds.flatMap((uuid) => findByUuid(context.outbox, uuid) ?? []);
  for (const { store } of planEdits(context, stored, [`nalezce=${id}`]).planned) store();
}

/**
 * Returns an unsent find without its table's row, to which the issues no longer refer, and without
 * its photographs, which an edit leaves as they are.
 * @throws UsageError where it was sent, may have been sent or was dropped
 */
function getEditableFind({ outbox }: EditContext, stored: StoredFind): Find {
  assertEditable(outbox, stored);
  return { localId: stored.localId, elements: getWantedElements(outbox, stored), photos: [] };
}

/**
 * Plans an edit, and validates the find as it will be; empty where nothing would change.
 * @param remarks issues of reading, which `store` returns before those of the validation
 */
function planEdit(
  { outbox, ruleContext }: EditContext,
  stored: StoredFind,
  { find, goal, issues: remarks }: InterviewResult & { readonly issues: readonly Issue[] },
): PlannedEdit[] {
  const shown = getWantedElements(outbox, stored);
  const changes = listChanges(shown, find.elements);
  const validate = (each: Find) =>
    validateFind(each, { ...ruleContext, lookupNumber: makeNumberLookup(outbox) });
  const validated = makeValidationForGoal(validate, goal)(find);
  const entry = findImportOfFind(outbox, stored.uuid);
  // A complete draft may be all that is to be sent.
  const isMoved = entry?.state === 'draft' ? !hasErrors(validated.issues) : goal === 'draft';
  // A person may want the one of two versions that is shown.
  const isChosen = entry !== undefined && !isAnswerable(entry);
  if (changes.length === 0 && !isMoved && !isChosen) return [];
  const store = () =>
    outbox.change(() => {
      assertEditable(outbox, stored);
      assertUnchanged(outbox, stored, shown);
      const wish = { ...stored.wish, elements: find.elements };
      withdrawQueuedNumber(outbox, stored.uuid);
      recordFindWish(outbox, stored, wish, makePreparedDocument(validated));
      const state = findImportOfFind(outbox, stored.uuid)?.state ?? 'draft';
      return { state, issues: [...remarks, ...validated.issues] };
    });
  return [{ stored, changes, store }];
}

function listChanges(before: FindElements, after: FindElements): ElementChange[] {
  return FIELDS.map(({ name }) => ({
    element: name,
    was: formatWithIdentifier(before[name]),
    is: formatWithIdentifier(after[name]),
  })).filter(({ was, is }) => was !== is);
}

/** @throws UsageError where the import of the find was or is being sent, or was dropped */
function assertEditable(outbox: Outbox, { uuid, localId }: StoredFind): void {
  const entry = findImportOfFind(outbox, uuid);
  switch (entry?.state) {
    case 'accepted': {
      const ident = entry.identCely ?? '';
      throw new UsageError(t`${localId} was sent as ${ident} and cannot be changed from here.`, {
        hint: t`Correct it on the service's website. You can add a number or photographs: ${cmd`pas number set ${localId}`} VALUE, ${cmd`pas photo add ${localId}`} FILE`,
      });
    }
    case 'uncertain':
      throw new UsageError(
        t`pas cannot tell whether the service has ${localId}, so the find was not changed.`,
        {
          hint: t`Find out first: ${cmd`pas reconcile ${localId}`}`,
        },
      );
    case 'sending':
      throw new UsageError(t`${localId} is being sent.`, {
        hint: t`Wait for the push to end. If it was interrupted, run ${cmd`pas push`} or ${cmd`pas reconcile ${localId}`}.`,
      });
    case 'dropped':
      throw new UsageError(t`${localId} was dropped.`, {
        hint: t`Queue it again first: ${cmd`pas resolve ${localId} --resend`}`,
      });
    default:
  }
}

/** @throws UsageError where another process changed the find since it was read */
function assertUnchanged(
  outbox: Outbox,
  { uuid, localId, version }: StoredFind,
  { evidencni_cislo: number }: FindElements,
): void {
  const now = findByUuid(outbox, uuid);
  const isSame = now?.version === version;
  if (isSame && getWantedElements(outbox, now).evidencni_cislo === number) return;
  throw new UsageError(msg`Another pas process changed ${localId}.`, {
    hint: msg`Run the command again.`,
  });
}
