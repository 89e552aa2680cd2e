import { UsageError } from '../base/errors.ts';
import { errorIssue, type Issue } from '../base/issue.ts';
import { t } from '../base/language.ts';
import type { Find, FindElements } from '../find/find.ts';
import type { RowContext } from '../find/map-row.ts';
import { findKeyProblem } from '../find/map-table.ts';
import { copiedFrom, elementsOf, questionFor } from '../find/questions.ts';
import { type Position, positionText } from '../find/read-position.ts';
import { isReadable, type Reading } from '../find/reading.ts';
import { inOrder, POINT_COLUMNS, parseSetting, readSettings, type Setting } from '../find/settings.ts';
import { importOfFind } from '../outbox/entries.ts';
import { findByIdentCely, findByLocalId, latestFinds, type StoredFind } from '../outbox/finds.ts';
import type { ServiceOutbox } from '../outbox/outbox.ts';
import { withPosition } from './answer.ts';

/** Where a new find begins: what flags say, over what another find says. */
export type StartOptions = {
  readonly set: readonly string[];
  readonly position: Reading<Position> | undefined;
  /** Absolute paths. */
  readonly photos: readonly string[];
};

export type Started = { readonly find: Find; readonly issues: readonly Issue[] };

/** @param base of a new find: empty, or what it has in common with another one */
export function startFind(base: Find, options: StartOptions, context: RowContext): Started {
  const parsed = options.set.map(parseSetting);
  const issues: Issue[] = parsed.filter((each) => 'rule' in each);
  const settings: readonly Setting[] = parsed.filter((each) => 'value' in each);
  const given = settings.find(({ name }) => name === 'local_id')?.value;
  const localId = given ?? base.localId;
  const problem = given === undefined ? undefined : findKeyProblem(given);
  if (problem !== undefined) issues.push(errorIssue('local-id', problem, { column: 'local_id' }));
  const settled = readSettings(
    settings.filter(({ name }) => name !== 'local_id'),
    localId,
    context,
  );
  issues.push(...settled.issues);
  const elements = inOrder({ ...withoutNamed(base.elements, settings), ...settled.elements });
  const find: Find = { localId, elements, photos: [...new Set([...base.photos, ...settled.photos, ...options.photos])] };
  const { position } = options;
  if (position === undefined) return { find, issues };
  if (!isReadable(position))
    return { find, issues: [...issues, errorIssue(position.rule, position.problem, { find: localId, element: 'geom_wkt' })] };
  const { doubt } = position.value;
  if (doubt === undefined) return { find: withPosition(find, position.value), issues };
  const meant = positionText(position.value);
  const message = t`${doubt} If ${meant} is meant, write it so.`;
  return { find, issues: [...issues, errorIssue('geometry-doubt', message, { find: localId, element: 'geom_wkt' })] };
}

/** What is given anew replaces what was copied, also where it is given as empty; a point is replaced as a whole. */
function withoutNamed(elements: FindElements, settings: readonly Setting[]): FindElements {
  const named = new Set(
    settings.flatMap(({ name }) => {
      if (POINT_COLUMNS.has(name)) return elementsOf('point');
      const question = questionFor(name);
      return question === undefined ? [] : elementsOf(question.name);
    }),
  );
  return Object.fromEntries(Object.entries(elements).filter(([name]) => !named.has(name as keyof FindElements)));
}

/** What another find lends to a new one. @throws UsageError when there is no such find */
export function sameAs(outbox: ServiceOutbox, named: string): FindElements {
  const stored = findByLocalId(outbox, named) ?? findByIdentCely(outbox, named);
  if (stored === undefined) throw new UsageError(t`There is no find ${named}.`, { hint: t`\`pas list\` shows the finds.` });
  return copiedFrom(stored.elements as FindElements);
}

/**
 * A find to go on with: the one named, else the last one that was entered by hand and is not finished.
 * @throws UsageError when there is none, or it was sent already
 */
export function findToResume(outbox: ServiceOutbox, named: string | undefined): Find {
  const stored = named === undefined ? lastUnfinished(outbox) : findByLocalId(outbox, named);
  if (stored === undefined) {
    throw named === undefined
      ? new UsageError(t`No find is unfinished.`, { hint: t`Begin one with \`pas add\`.` })
      : new UsageError(t`There is no find ${named}.`, { hint: t`\`pas list\` shows the finds.` });
  }
  const state = importOfFind(outbox, stored.id)?.state ?? 'draft';
  if (state !== 'draft' && state !== 'queued' && state !== 'refused') {
    throw new UsageError(t`${stored.localId} was sent or given up: it can no longer be changed here.`, {
      hint: `pas show ${stored.localId}`,
    });
  }
  return { localId: stored.localId, elements: stored.elements as FindElements, photos: [] };
}

const MOST_LOOKED_AT = 500;

export function lastUnfinished(outbox: ServiceOutbox): StoredFind | undefined {
  return latestFinds(outbox, MOST_LOOKED_AT).find(
    ({ id, sourceFile }) => sourceFile === null && importOfFind(outbox, id)?.state === 'draft',
  );
}
