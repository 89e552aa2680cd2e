import type { Message } from '../base/message.ts';
/** What a cell says, or why it cannot be told: `problem` is what is wrong and then what to do. */
export type Reading<T> = { readonly value: T } | Unreadable;

export type Unreadable = { readonly rule: string; readonly problem: Message };

export function unreadable(rule: string, problem: Message): Unreadable {
  return { rule, problem };
}

export function isReadable<T>(reading: Reading<T>): reading is { readonly value: T } {
  return 'value' in reading;
}
