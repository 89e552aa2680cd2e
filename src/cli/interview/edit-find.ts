import { UsageError } from '../../base/errors.ts';
import { hasErrors, type Issue, makeErrorIssue, makeUnreadable } from '../../base/issue.ts';
import { t } from '../../base/language.ts';
import { cmd, msg } from '../../base/message.ts';
import {
  applyCellChanges,
  type Cells,
  formatEditText,
  getFindCells,
  listDifferingCells,
  parseEditText,
} from '../../finds/edit-text.ts';
import { findColumnByName } from '../../finds/fields.ts';
import type { Find, LookupTerm } from '../../finds/find.ts';
import { parsePosition } from '../../finds/place/read-position.ts';
import { makeReferenceResolver } from '../../finds/resolve-references.ts';
import { type ValidationContext, validateFind } from '../../finds/rules.ts';
import { openNumberLookup } from '../../outbox/changes/enqueue-change.ts';
import { convertStoredFind, makePreparedDocument } from '../../outbox/changes/enqueue-finds.ts';
import type { EntryState } from '../../outbox/entry.ts';
import { findImportOfFind } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import {
  findByUuid,
  getImportedRow,
  type StoredFind,
  serializeImportedRow,
} from '../../outbox/stored-finds.ts';
import { wantFind } from '../../outbox/wishes.ts';
import { OF_ONE_FIND } from '../../tables/columns/column-rule.ts';
import {
  isPointOrSystemColumn,
  makeSetting,
  parseSettings,
  parseSettingTexts,
} from '../../tables/columns/settings.ts';
import { acceptCertainPosition, makeDraftValidation } from './add-find.ts';
import { replaceElements, replacePosition } from './answer.ts';
import type { InterviewResult } from './interview.ts';

type EditContext = {
  readonly outbox: Outbox;
  readonly ruleContext: ValidationContext & { readonly lookupTerm: LookupTerm };
};

/** A change of a line; undefined where it was empty. */
export type CellChange = {
  readonly element: string;
  readonly was: string | undefined;
  readonly is: string | undefined;
};

/** An edit that can be stored, unless nothing would change, or a value cannot be read. */
export type PlannedEdit = {
  readonly changed: readonly CellChange[];
  /** Errors of values that cannot be read. */
  readonly issues: readonly Issue[];
  /** The edited text with these errors. */
  readonly again?: string;
  readonly store?: () => { readonly state: EntryState; readonly issues: readonly Issue[] };
};

const UNCHANGED: PlannedEdit = { changed: [], issues: [] };

export type FindEdit = ReturnType<typeof openEdit>;

/**
 * Opens the edit of an unsent find: each function plans one from text, settings or answers,
 * without storing it. `store` of the plan writes; a complete find is queued then.
 * @throws UsageError where the find was sent; `store` also where it changed meanwhile
 */
export function openEdit({ outbox, ...given }: EditContext, stored: StoredFind) {
  const ruleContext = { ...given.ruleContext, lookupNumber: openNumberLookup(outbox) };
  const context = { outbox, ruleContext };
  assertEditable(outbox, stored);
  const find = convertStoredFind(stored);
  const before = getFindCells(find.elements, ruleContext.lookupTerm);
  const plan = (after: Cells, intent: InterviewResult['intent'] = 'send') =>
    planEdit(context, stored, before, after, intent);
  const bySettings = (texts: readonly string[], point?: string): PlannedEdit => {
    const position =
      point === undefined ? undefined : acceptCertainPosition(parsePosition(point), find.localId);
    if (position !== undefined && 'rule' in position) return { ...UNCHANGED, issues: [position] };
    const placed = position && replacePosition({ ...find, elements: {} }, position).elements;
    const ofPoint = placed === undefined ? [] : getFindCells(placed, ruleContext.lookupTerm);
    const settings = parseSettingTexts(texts).map(({ name, value }) => [name, value] as const);
    return plan(applyCellChanges(before, new Map([...ofPoint, ...settings])));
  };
  return {
    find,
    /** Returns the find as a text to edit, with its issues. */
    text: () => {
      const entry = findImportOfFind(outbox, stored.uuid);
      // A refusal's issues are stored; others are computed again with the current vocabularies.
      const issues =
        entry?.state === 'refused' ? entry.issues : validateFind(find, ruleContext).issues;
      return formatEditText(find.localId, before, issues);
    },
    byText: (text: string): PlannedEdit => {
      const read = parseEditText(text);
      if (read === undefined) return UNCHANGED;
      const { cells, issues } = read;
      if (issues.length > 0) return { ...UNCHANGED, issues };
      if (listDifferingCells(before, cells).length === 0) return UNCHANGED;
      // An alias would otherwise be a second line.
      const edited = plan(
        new Map([...cells].map(([name, cell]) => [findColumnByName(name) ?? name, cell])),
      );
      return { ...edited, again: formatEditText(find.localId, cells, edited.issues) };
    },
    /** @param texts `element=value`; an empty value removes the element */
    bySettings,
    byAnswers: (answered: InterviewResult) =>
      plan(getFindCells(answered.find.elements, ruleContext.lookupTerm), answered.intent),
  };
}

/**
 * Replaces the finder of unsent finds by an identifier, and stores them.
 * @param finds their uuids; unknown ones are passed over
 * @throws UsageError as {@link openEdit} does, when the finds before are stored already
 */
export function replaceFinder(context: EditContext, finds: readonly string[], id: string): void {
  for (const find of finds) {
    const stored = findByUuid(context.outbox, find);
    if (stored !== undefined)
      openEdit(context, stored)
        .bySettings([`nalezce=${id}`])
        .store?.();
  }
}

/**
 * Plans the same change of several finds; nothing is stored. A sent find is among `refused`, and
 * does not prevent the others; one that would not change is left out.
 * @param texts `element=value`
 * @throws UsageError for an invalid setting
 */
export function planEdits(
  context: EditContext,
  finds: readonly StoredFind[],
  texts: readonly string[],
  point?: string,
) {
  parseSettingTexts(texts);
  const planned: { stored: StoredFind; plan: PlannedEdit }[] = [];
  const refused: { find: string; because: string }[] = [];
  const issues: Issue[] = [];
  for (const stored of finds) {
    try {
      const plan = openEdit(context, stored).bySettings(texts, point);
      if (plan.store !== undefined) planned.push({ stored, plan });
      issues.push(...plan.issues.map((issue) => issue.with({ find: stored.localId })));
    } catch (thrown) {
      if (!(thrown instanceof UsageError)) throw thrown;
      refused.push({ find: stored.localId, because: thrown.message });
    }
  }
  return { planned, refused, issues };
}

/** @param before the cells as shown: untouched elements stay exactly as they are */
function planEdit(
  { outbox, ruleContext }: EditContext,
  stored: StoredFind,
  before: Cells,
  after: Cells,
  intent: InterviewResult['intent'],
): PlannedEdit {
  const changed = listDifferingCells(before, after);
  const fixed = changed.filter((name) => OF_ONE_FIND.some((each) => each === name));
  if (fixed.length > 0) {
    const where = { find: stored.localId };
    const refuse = (name: string): Issue =>
      makeErrorIssue('identifier-fixed', msg`${name} cannot be changed. Leave it out.`, where);
    return { ...UNCHANGED, issues: fixed.map(refuse) };
  }
  // Without the table's row, to which the issues no longer refer.
  const { localId, elements } = convertStoredFind(stored);
  const unchanged: Find = { localId, elements, photos: [] };
  const { find, issues } = replaceCells(unchanged, after, changed, ruleContext.lookupTerm);
  if (hasErrors(issues)) return { ...UNCHANGED, issues };
  const validated = makeDraftValidation((each) => validateFind(each, ruleContext), intent)(find);
  // A complete draft may be all that is to be sent.
  const isDraft = findImportOfFind(outbox, stored.uuid)?.state === 'draft';
  const isMoved = isDraft ? !hasErrors(validated.issues) : intent === 'draft';
  if (changed.length === 0 && !isMoved) return UNCHANGED;
  const store = () =>
    outbox.change(() => {
      assertEditable(outbox, stored);
      assertUnchanged(outbox, stored);
      const base = serializeImportedRow(getImportedRow(stored) ?? null, find.elements);
      const wish = { ...stored.wish, elements: find.elements, base };
      wantFind(outbox, stored, wish, makePreparedDocument(validated));
      const state = findImportOfFind(outbox, stored.uuid)?.state ?? 'draft';
      return { state, issues: [...issues, ...validated.issues] };
    });
  return {
    changed: changed.map((element) => ({
      element,
      was: before.get(element),
      is: after.get(element),
    })),
    issues: [],
    store,
  };
}

/** @throws UsageError where the import of the find was sent or dropped */
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

/** Returns the elements after a change of cells; those of the point are read together. */
function replaceCells(
  find: Find,
  after: Cells,
  changed: readonly string[],
  lookupTerm: LookupTerm,
) {
  const { localId } = find;
  const resolvePhoto = () =>
    makeUnreadable(
      'photos',
      t`Photographs are not edited here: ${cmd`pas photo add ${localId}`} FILE`,
    );
  const others = changed.some(isPointOrSystemColumn)
    ? [...after.keys()].filter(isPointOrSystemColumn)
    : [];
  const given = [...new Set([...changed, ...others])].map((name) =>
    makeSetting(name, after.get(name) ?? ''),
  );
  const settings = given.filter((each) => 'value' in each);
  const parsed = parseSettings(settings, localId, {
    resolveReference: makeReferenceResolver(lookupTerm),
    resolvePhoto,
  });
  const issues = [...given.filter((each) => 'rule' in each), ...parsed.issues].map((issue) =>
    issue.with({ element: issue.element ?? issue.column, find: localId }).without('column'),
  );
  const names = settings.map(({ name }) => name);
  return { find: replaceElements(find, names, parsed.elements), issues };
}

/** @throws UsageError where another process changed the find since it was read */
function assertUnchanged(outbox: Outbox, { uuid, localId, version }: StoredFind): void {
  if (findByUuid(outbox, uuid)?.version === version) return;
  throw new UsageError(msg`Another pas process changed ${localId}.`, {
    hint: msg`Run the command again.`,
  });
}
