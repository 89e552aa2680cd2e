import { UsageError } from '../../base/errors.ts';
import { hasErrors, type Issue, makeErrorIssue, makeUnreadable } from '../../base/issue.ts';
import { t } from '../../base/language.ts';
import { cmd, type Message, msg } from '../../base/message.ts';
import { formatReferenceCell, NEW_PERSON } from '../../finds/field.ts';
import {
  FIELDS,
  type Field,
  type FindElements,
  findColumnByName,
  isPointColumn,
  POINT_COLUMNS,
} from '../../finds/fields.ts';
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

/** Column name → text, as in a row of a table. */
export type Cells = ReadonlyMap<string, string>;

/** One line represents both elements of the point; `geom_system` selects the element. */
const POINT_LINE = 'wkt';

/**
 * Returns the cells of a find, with labels for vocabulary entries where a label resolves to the
 * same entry.
 */
function getFindCells(elements: FindElements, lookupTerm: LookupTerm): Map<string, string> {
  const cells = new Map<string, string>();
  for (const field of FIELDS) {
    const text = formatCell(field, elements, lookupTerm);
    if (text !== '') cells.set(getLineName(field), text);
  }
  return cells;
}

function getLineName(field: Field): string {
  return field.kind === 'point' ? POINT_LINE : field.name;
}

function formatCell(field: Field, elements: FindElements, lookupTerm: LookupTerm): string {
  const value = elements[field.name];
  if (value === undefined || (field.kind === 'point' && field.epsg !== elements.geom_system))
    return '';
  if (typeof value !== 'object') return String(value);
  if (value.id === NEW_PERSON || field.set === undefined || value.text === '')
    return formatReferenceCell(value);
  const lookup = lookupTerm(field.set, value.text);
  return lookup.kind === 'found' && lookup.term.id === value.id ? value.text : value.id;
}

/**
 * Returns the cells with the changes; an empty text removes a cell. If a changed column belongs
 * to the point, all other columns of the point are removed, so that two points are never mixed.
 */
function applyCellChanges(cells: Cells, changes: Cells): Map<string, string> {
  const changed = new Map(cells);
  if ([...changes.keys()].some(isPointColumn))
    for (const name of POINT_COLUMNS) changed.delete(name);
  for (const [name, text] of changes) changed.set(name, text);
  return new Map([...changed].filter(([, text]) => text !== ''));
}

/**
 * Returns the names of the columns whose texts differ, those of `before` first. An absent cell
 * equals an empty one.
 */
function listDifferingCells(before: Cells, after: Cells): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => (before.get(name) ?? '') !== (after.get(name) ?? ''));
}

/**
 * Formats a find as a text to edit: for each element its meaning as a comment, its issues, and a
 * line `name = value`; issues of no element come first. Cells of unknown columns are at the end.
 * {@link parseEditText} reads it.
 */
function formatEditText(localId: string, cells: Cells, issues: readonly Issue[]): string {
  const glosses = new Map<string, Message>(
    FIELDS.map((field) => [
      getLineName(field),
      field.kind === 'point'
        ? msg`point, such as POINT (14.4208 50.0871), in the order of geom_system`
        : field.gloss,
    ]),
  );
  const getIssueLine = ({ element = '' }: Issue): string =>
    isPointColumn(element) ? POINT_LINE : element;
  const formatLine = (name: string): string => `${name} = ${encodeLine(cells.get(name) ?? '')}`;
  const lines = [
    formatComment(
      msg`Find ${localId}. Write a value after each "="; leave it empty to leave the element out. A line break in a text is \\n.`,
    ),
    formatComment(
      msg`Save the file and close the editor to continue. pas ignores lines that start with #; an empty file changes nothing.`,
    ),
    ...issues.filter((issue) => !glosses.has(getIssueLine(issue))).map(formatMark),
    ...[...glosses].flatMap(([name, gloss]) => [
      '',
      formatComment(gloss),
      ...issues.filter((issue) => getIssueLine(issue) === name).map(formatMark),
      formatLine(name),
    ]),
    ...[...cells.keys()].filter((name) => !glosses.has(name)).map(formatLine),
  ];
  return `${lines.join('\n')}\n`;
}

function formatComment(text: Message): string {
  return `# ${String(text).replaceAll('\n', ' ')}`;
}

function formatMark({ severity, message }: Issue): string {
  return formatComment(`${severity === 'error' ? '✗' : '!'} ${message}`);
}

function encodeLine(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll(/\r\n?|\n/g, '\\n');
}

function decodeLine(text: string): string {
  return text.replaceAll(/\\([n\\])/g, (_, letter: string) => (letter === 'n' ? '\n' : letter));
}

/**
 * Parses the edited text: empty values are left out of `cells`. A line that is not
 * `name = value`, or whose name appeared before, gives an error with its line. Undefined where no
 * line has a value or a fault, which means no change.
 */
function parseEditText(
  text: string,
): { readonly cells: Map<string, string>; readonly issues: readonly Issue[] } | undefined {
  const cells = new Map<string, string>();
  const issues: Issue[] = [];
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r\n?|\n/)
    .entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [, name = '', value = ''] =
      /^([\p{L}\p{N}_\s]+)=(.*)$/u.exec(line)?.map((part) => part.trim()) ?? [];
    const where = { line: index + 1 };
    if (name === '')
      issues.push(
        makeErrorIssue(
          'edit-line',
          msg`This line is not "element = value". Correct it, or write # before it.`,
          where,
        ),
      );
    else if (cells.has(name))
      issues.push(
        makeErrorIssue(
          'edit-line-twice',
          msg`${name} appears twice. Keep one of the lines.`,
          where,
        ),
      );
    else cells.set(name, decodeLine(value));
  }
  if (cells.size === 0 && issues.length === 0) return undefined;
  return { cells: new Map([...cells].filter(([, value]) => value !== '')), issues };
}

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
