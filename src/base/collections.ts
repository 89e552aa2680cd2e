/** Groups items by a key, in the order in which the keys first occur. */
export function groupBy<T, Key>(items: Iterable<T>, getKey: (item: T) => Key): Map<Key, T[]> {
  const groups = new Map<Key, T[]>();
  for (const item of items) addToGroup(groups, getKey(item), item);
  return groups;
}

/** Adds an item to the group of a key in `groups`; a missing group is made. */
export function addToGroup<T, Key>(groups: Map<Key, T[]>, key: Key, item: T): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [item]);
  else group.push(item);
}

/**
 * Wraps a pure function so that it computes the value of each argument once; values are kept as
 * long as the wrapper. Arguments are compared as the keys of a Map, objects by identity. After an
 * error the function runs again.
 */
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

/** Wraps a function so that it runs at the first call only; after an error it runs again. */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
