/** Groups items by a key, in the order in which the keys first occur. */
export function groupBy<T, Key>(items: Iterable<T>, getKey: (item: T) => Key): Map<Key, T[]> {
  const groups = new Map<Key, T[]>();
  for (const item of items) {
    const key = getKey(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
