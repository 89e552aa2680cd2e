import { msg } from '../base/message.ts';
import { XML_NAMESPACE } from './element.ts';
import { Fault } from './fault.ts';
import { splitName } from './name.ts';

/** The namespaces that are declared at a place (Namespaces in XML 1.0), found at once however many there are. */
export class Scope {
  /** Of each prefix what is declared for it, the innermost last, and how deep the element is that says so. */
  readonly #bound = new Map<string, { readonly uri: string; readonly depth: number }[]>([
    ['xml', [{ uri: XML_NAMESPACE, depth: -1 }]],
  ]);

  /** Names of namespaces: the same few come again and again, and are compared soonest where they are one. */
  readonly #uris = new Map<string, string>();

  declare(prefix: string, uri: string, depth: number, offset: number): void {
    const around = this.#bound.get(prefix) ?? [];
    if (around.at(-1)?.depth === depth) throw new Fault(msg`a namespace prefix is declared twice`, offset);
    if (prefix === 'xmlns' || (prefix === 'xml') !== (uri === XML_NAMESPACE)) {
      throw new Fault(msg`the prefixes xml and xmlns may not be bound to anything else`, offset);
    }
    if (prefix !== '' && (uri === '' || splitName(prefix)?.prefix !== '')) {
      throw new Fault(msg`a namespace declaration is not well-formed`, offset);
    }
    const known = this.#uris.get(uri) ?? uri;
    this.#uris.set(uri, known);
    around.push({ uri: known, depth });
    this.#bound.set(prefix, around);
  }

  /** Ends what an element has declared. */
  leave(prefixes: readonly string[]): void {
    for (const prefix of prefixes) this.#bound.get(prefix)?.pop();
  }

  /** The namespace of a prefix; the empty prefix is in none unless a default is declared. */
  resolve(prefix: string, offset: number): string {
    const uri = this.#bound.get(prefix)?.at(-1)?.uri;
    if (uri === undefined && prefix !== '') throw new Fault(msg`the prefix ${prefix} is not declared`, offset);
    return uri ?? '';
  }
}
