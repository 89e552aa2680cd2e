import { msg } from '../base/message.ts';
import { XML_NAMESPACE } from './element.ts';
import { Fault, refuseMoreNames } from './fault.ts';
import { type Binding, splitName } from './name.ts';

/** The namespaces that are declared at a place (Namespaces in XML 1.0), found at once however many there are. */
export class Scope {
  /** Of each prefix what is declared for it, the innermost last. */
  readonly #bound = new Map<string, Binding[]>([['xml', [{ uri: XML_NAMESPACE, depth: -1 }]]]);

  /** Names of namespaces: the same few come again and again, and are compared soonest where they are one. */
  readonly #uris = new Map<string, string>();

  declare(prefix: string, uri: string, depth: number, offset: number): void {
    const around = this.#listOf(prefix);
    if (around.at(-1)?.depth === depth) throw new Fault(msg`a namespace prefix is declared twice`, offset);
    if (prefix === 'xmlns' || (prefix === 'xml') !== (uri === XML_NAMESPACE)) {
      throw new Fault(msg`the prefixes xml and xmlns may not be bound to anything else`, offset);
    }
    if (prefix !== '' && (uri === '' || splitName(prefix)?.prefix !== '')) {
      throw new Fault(msg`a namespace declaration is not well-formed`, offset);
    }
    const known = this.#uris.get(uri) ?? uri;
    this.#uris.set(uri, known);
    refuseMoreNames(this.#uris.size, offset);
    around.push({ uri: known, depth });
  }

  /** Ends what an element has declared. */
  leave(prefixes: readonly string[]): void {
    for (const prefix of prefixes) this.#bound.get(prefix)?.pop();
  }

  /** What is declared for a prefix wherever that is asked: the list is always the same. */
  boundTo(prefix: string): readonly Binding[] {
    return this.#listOf(prefix);
  }

  #listOf(prefix: string): Binding[] {
    const list = this.#bound.get(prefix) ?? [];
    this.#bound.set(prefix, list);
    return list;
  }
}

/** The namespace of a prefix; the empty prefix is in none unless a default is declared. */
export function namespaceIn(bound: readonly Binding[], prefix: string, offset: number): string {
  const uri = bound[bound.length - 1]?.uri;
  if (uri === undefined && prefix !== '') throw new Fault(msg`the prefix ${prefix} is not declared`, offset);
  return uri ?? '';
}
