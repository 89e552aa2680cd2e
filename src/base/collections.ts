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

/** Remembers what a pure function returned for each argument. */
export function memoize<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new Map<Key, { readonly value: Value }>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known.value;
    const value = make(key);
    made.set(key, { value });
    return value;
  };
}

/** Runs a function at the first call only, and returns its result at each; an error is thrown anew. */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
