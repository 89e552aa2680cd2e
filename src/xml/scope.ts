import { msg } from '../base/message.ts';
import { XML_NAMESPACE } from './element.ts';
import { type NamespaceBinding, splitQualifiedName } from './name.ts';
import { assertNameLimit, Fault } from './parse-error.ts';

/** Namespaces in scope (Namespaces in XML 1.0), with constant lookup time. */
export class Scope {
  /** Declarations per prefix, the innermost last. */
  readonly #bound = new Map<string, NamespaceBinding[]>([['xml', [{ uri: XML_NAMESPACE, depth: -1 }]]]);

  /** Namespace URIs, interned to speed up comparisons. */
  readonly #uris = new Map<string, string>();

  declare(prefix: string, uri: string, depth: number, offset: number): void {
    const around = this.#listOf(prefix);
    if (around.at(-1)?.depth === depth) throw new Fault(msg`a namespace prefix is declared twice`, offset);
    if (prefix === 'xmlns' || (prefix === 'xml') !== (uri === XML_NAMESPACE)) {
      throw new Fault(msg`the prefixes xml and xmlns may not be bound to anything else`, offset);
    }
    if (prefix !== '' && (uri === '' || splitQualifiedName(prefix)?.prefix !== '')) {
      throw new Fault(msg`a namespace declaration is not well-formed`, offset);
    }
    const known = this.#uris.get(uri) ?? uri;
    this.#uris.set(uri, known);
    assertNameLimit(this.#uris.size, offset);
    around.push({ uri: known, depth });
  }

  /** Ends the declarations of an element. */
  leave(prefixes: readonly string[]): void {
    for (const prefix of prefixes) this.#bound.get(prefix)?.pop();
  }

  /** Returns the declarations of a prefix; the list object stays the same. */
  boundTo(prefix: string): readonly NamespaceBinding[] {
    return this.#listOf(prefix);
  }

  #listOf(prefix: string): NamespaceBinding[] {
    const list = this.#bound.get(prefix) ?? [];
    this.#bound.set(prefix, list);
    return list;
  }
}

/** Returns the namespace of a prefix; the empty prefix has none unless a default is declared. */
export function namespaceIn(bound: readonly NamespaceBinding[], prefix: string, offset: number): string {
  const uri = bound[bound.length - 1]?.uri;
  if (uri === undefined && prefix !== '') throw new Fault(msg`the prefix ${prefix} is not declared`, offset);
  return uri ?? '';
}
