import type { Message } from '../base/message.ts';
/** Value of a cell, or the `problem` (cause, then remedy) of one that cannot be read. */
export type Reading<T> = { readonly value: T } | Unreadable;

export type Unreadable = { readonly rule: string; readonly problem: Message };

export function unreadable(rule: string, problem: Message): Unreadable {
  return { rule, problem };
}

export function isReadable<T>(reading: Reading<T>): reading is { readonly value: T } {
  return 'value' in reading;
}
