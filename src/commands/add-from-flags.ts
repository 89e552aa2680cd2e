import { type ExitReason, UsageError } from '../base/errors.ts';
import { hasErrors, type Issue } from '../base/issue.ts';
import { t } from '../base/language.ts';
import { shellWord } from '../base/shell-word.ts';
import { foldUnchecked } from '../context/validation.ts';
import { defaultsFor } from '../find/defaults.ts';
import type { Find } from '../find/find.ts';
import { nextLocalId } from '../find/next-local-id.ts';
import { inOrder } from '../find/settings.ts';
import { findToResume } from '../flows/start-find.ts';
import { LATEST, startingElements } from '../flows/suggest-values.ts';
import { findByLocalId, latestFinds } from '../outbox/finds.ts';
import { issueValues, printIssues } from '../ui/issues.ts';
import { type Adding, type AddOptions, EMPTY_FIND, savedText, savedValue } from './adding.ts';
import { adviseSending } from './next-command.ts';

/** Adds what the flags say. What is wrong keeps all of it out of the outbox, unless it is to be a draft. */
export async function addFromFlags(adding: Adding, options: AddOptions): Promise<ExitReason> {
  const { context, outbox } = adding;
  const { terminal } = context;
  const resumed =
    options.resume === undefined ? undefined : findToResume(outbox, options.resume === true ? undefined : options.resume);
  const { find: begun, issues: unreadable } = await adding.start(
    resumed ?? { ...EMPTY_FIND, localId: nextNumber(adding) },
    'first',
  );
  const find = withDefaults(adding, begun);
  if (find.localId !== resumed?.localId) refuseTaken(adding, find);
  const photoIssues = await photoProblems(adding, find);
  // What was given and cannot be read is not missing.
  const unread = unreadable.map(({ element }) => element);
  // A point brings its coordinate system along.
  const given = new Set(unread.some((element) => element === 'geom_wkt') ? [...unread, 'geom_system'] : unread);
  const wrong = [...unreadable, ...photoIssues, ...adding.check(find).filter(({ element }) => !given.has(element))];
  if (hasErrors(wrong) && options.draft !== true) {
    printIssues(terminal, foldUnchecked(withNames(wrong)));
    terminal.line(t`Nothing was saved. Mend it, or keep it as it is with --draft.`);
    terminal.value({
      find: null,
      local_id: find.localId,
      state: null,
      elements: find.elements,
      photos: 0,
      issues: issueValues(terminal, wrong),
    });
    return 'dataRefused';
  }
  const saved = await adding.save(find, options.draft === true ? 'draft' : 'send');
  const issues = withNames([...unreadable, ...saved.issues]);
  printIssues(terminal, issues);
  terminal.line(terminal.advised(savedText(saved)));
  if (saved.state === 'queued') adviseSending(context);
  terminal.value(savedValue(terminal, adding, { ...saved, issues }));
  return hasErrors(unreadable) || (options.draft !== true && saved.state !== 'queued') ? 'dataRefused' : 'done';
}

/** Continues the last one. */
function nextNumber({ outbox }: Adding): string {
  const latest = latestFinds(outbox, LATEST).map(({ localId }) => localId);
  return nextLocalId(latest, (id) => findByLocalId(outbox, id) !== undefined);
}

function withDefaults({ suggestions }: Adding, find: Find): Find {
  const ofProfile = defaultsFor(suggestions.defaults, suggestions.profile, undefined);
  const project = find.elements.projekt ?? startingElements(ofProfile, suggestions).projekt;
  const defaults = startingElements(defaultsFor(suggestions.defaults, suggestions.profile, project?.id), suggestions);
  return { ...find, elements: inOrder({ ...defaults, ...find.elements }) };
}

/** The same find once more is no mistake: a script may be run again. */
function refuseTaken({ outbox }: Adding, { localId, elements }: Find): void {
  const stored = findByLocalId(outbox, localId);
  if (stored === undefined || JSON.stringify(stored.elements) === JSON.stringify(elements)) return;
  const word = shellWord(localId);
  throw new UsageError(t`There is a find ${localId} already, and it says something else.`, {
    hint: t`Give another local_id, or none; or change the find that is there: pas add --resume ${word}`,
  });
}

async function photoProblems({ answers }: Adding, { photos, localId }: Find): Promise<Issue[]> {
  const inspected = await Promise.all(photos.map((path) => answers.inspectPhotograph(path)));
  return inspected.flatMap(({ issues }) => issues.map((issue) => ({ ...issue, find: localId })));
}

/** There is one find, and no table: its number says nothing here. */
function withNames(issues: readonly Issue[]): Issue[] {
  return issues.map(({ column: _column, find: _find, ...issue }) => issue);
}
