import { t } from '../base/language.ts';
import { XML_NAMESPACE } from './element.ts';
import { Fault } from './fault.ts';
import { splitName } from './name.ts';

/** One namespace declaration and those around it (Namespaces in XML 1.0). */
export type Scope = { readonly prefix: string; readonly uri: string; readonly outer: Scope | undefined };

export const OUTERMOST_SCOPE: Scope = { prefix: 'xml', uri: XML_NAMESPACE, outer: undefined };

/**
 * The scope with one more declaration.
 * @param before the scope round the element that declares, to see what the same element declared already
 */
export function declare(scope: Scope, before: Scope, { prefix, uri }: Omit<Scope, 'outer'>, offset: number): Scope {
  for (let inner: Scope | undefined = scope; inner !== undefined && inner !== before; inner = inner.outer) {
    if (inner.prefix === prefix) throw new Fault(t`a namespace prefix is declared twice`, offset);
  }
  if (prefix === 'xmlns' || (prefix === 'xml') !== (uri === XML_NAMESPACE)) {
    throw new Fault(t`the prefixes xml and xmlns may not be bound to anything else`, offset);
  }
  if (prefix !== '' && (uri === '' || splitName(prefix)?.prefix !== '')) {
    throw new Fault(t`a namespace declaration is not well-formed`, offset);
  }
  return { prefix, uri, outer: scope };
}

/** The namespace of a prefix; the empty prefix is in none unless a default is declared. */
export function resolve(scope: Scope, prefix: string, offset: number): string {
  for (let inner: Scope | undefined = scope; inner !== undefined; inner = inner.outer) {
    if (inner.prefix === prefix) return inner.uri;
  }
  if (prefix !== '') throw new Fault(t`the prefix ${prefix} is not declared`, offset);
  return '';
}
