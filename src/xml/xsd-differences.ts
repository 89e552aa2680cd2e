import { t } from '../base/language.ts';
import type { Outline, OutlineEntry } from './xsd-outline.ts';

/** One thing in which a schema differs from another. */
export type SchemaDifference = {
  readonly kind: 'added' | 'removed' | 'changed' | 'reordered';
  /** The element, from below the root; '' is the root itself. */
  readonly path: string;
  /** In words: what is new, what it was and is now. */
  readonly what: string;
};

const OCCURS_WORDS: Readonly<Record<OutlineEntry['occurs'], string>> = {
  once: t`once`,
  'at most once': t`at most once`,
  'any number': t`any number`,
  'at least once': t`at least once`,
};

/** What `after` has that `before` has not, and the other way round. What stands below an element that is new or gone is not told again. */
export function differencesOf(before: Outline, after: Outline): SchemaDifference[] {
  const removed = [...before].filter(([path]) => !after.has(path) && hasParent(path, after));
  const differences = [...after].flatMap(([path, entry]): SchemaDifference[] => {
    const old = before.get(path);
    if (old !== undefined) return changesOf(path, old, entry);
    return hasParent(path, before) ? [{ kind: 'added', path, what: entryText(entry) }] : [];
  });
  return [
    ...differences,
    ...removed.map(([path, entry]): SchemaDifference => ({ kind: 'removed', path, what: entryText(entry) })),
  ];
}

function hasParent(path: string, outline: Outline): boolean {
  return outline.has(path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '');
}

function changesOf(path: string, old: OutlineEntry, now: OutlineEntry): SchemaDifference[] {
  const changes = [
    ...(old.content === now.content ? [] : [`${old.content} → ${now.content}`]),
    ...(old.occurs === now.occurs ? [] : [`${OCCURS_WORDS[old.occurs]} → ${OCCURS_WORDS[now.occurs]}`]),
  ];
  const changed: SchemaDifference[] = changes.length === 0 ? [] : [{ kind: 'changed', path, what: changes.join('; ') }];
  const [oldOrder, newOrder] = [common(old.children, now.children), common(now.children, old.children)];
  if (oldOrder.join() === newOrder.join()) return changed;
  const named = newOrder.join(', ');
  return [...changed, { kind: 'reordered', path, what: t`the order of its elements is now ${named}` }];
}

function common(names: readonly string[], others: readonly string[]): string[] {
  return names.filter((name) => others.includes(name));
}

function entryText({ content, occurs }: OutlineEntry): string {
  return `${content}, ${OCCURS_WORDS[occurs]}`;
}
