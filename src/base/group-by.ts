/** Groups items by a key, in the order in which the keys first occur. */
export function groupBy<T, Key>(items: Iterable<T>, getKey: (item: T) => Key): Map<Key, T[]> {
  const groups = new Map<Key, T[]>();
  for (const item of items) addToGroup(groups, getKey(item), item);
  return groups;
}

export function addToGroup<T, Key>(groups: Map<Key, T[]>, key: Key, item: T): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [item]);
  else group.push(item);
}
