import { msgid, ngettext } from '../../base/language.ts';
import type { Message } from '../../base/message.ts';
import { printable } from '../../ui/terminal.ts';

type Folded = { readonly what: string; readonly text: string; more: number };

/** Groups lines by kind: the first one, and the number of further ones. A restored service has hundreds. */
export class FoldedLines {
  readonly #kinds = new Map<string, Folded>();

  /** @param kind equal where only names and numbers differ */
  add(kind: string, what: Message, text: string): void {
    const known = this.#kinds.get(kind);
    if (known === undefined) this.#kinds.set(kind, { what: printable(what), text, more: 0 });
    else known.more += 1;
  }

  /** Returns and removes the lines, in the order of the first of each kind. */
  take(): string[] {
    const lines = [...this.#kinds.values()].map(({ what, text, more }) => andMore(what, more, text));
    this.#kinds.clear();
    return lines;
  }
}

/** Formats an entry and the number of further ones of its kind. */
export function andMore(what: string, more: number, text: string): string {
  if (more === 0) return `${what}: ${text}`;
  return ngettext(msgid`${what} and ${more} more: ${text}`, `${what} and ${more} more: ${text}`, more);
}
