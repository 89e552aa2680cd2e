import { type Message, msg } from '../base/message.ts';

/** Joins with "or": "2024-04-03 or 2024-03-04" */
export function alternatives(names: readonly Message[]): Message {
  return names.length === 0 ? '' : names.reduce((all, name) => msg`${all} or ${name}`);
}

/** Joins with "and": "lon and lat" */
export function enumerate(names: readonly Message[]): Message {
  return names.length === 0 ? '' : names.reduce((all, name) => msg`${all} and ${name}`);
}
