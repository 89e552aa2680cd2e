import { together } from '../base/enumeration.ts';
import { t } from '../base/language.ts';
import { attributeOf, childOf, childrenOf, type XmlDocument, type XmlElement } from './element.ts';

/** What a schema says of one element, wherever in the document it may stand. */
export type OutlineEntry = {
  /** In words: `string`, `string with id, xml:lang`, `elements`, `elements and text`. */
  readonly content: string;
  readonly occurs: 'once' | 'at most once' | 'any number' | 'at least once';
  /** Names of its own children, in the order in which they are declared. */
  readonly children: readonly string[];
};

/** By path from below the root: `samostatny_nalez/chranene_udaje/katastr`. The root itself stands under ''. */
export type Outline = ReadonlyMap<string, OutlineEntry>;

export const SCHEMA_NAMESPACE = 'http://www.w3.org/2001/XMLSchema';

/** Far beyond any schema of records; compiling takes time and memory that grow with what a schema unfolds to. */
const MOST_ENTRIES = 20_000;
const MOST_CHILDREN = 500;
const MOST_LEVELS = 24;

/** The schema unfolds to more than any schema of records does. */
export class SchemaTooLargeError extends Error {
  constructor() {
    super(t`it unfolds without end, to more than ${MOST_ENTRIES} elements, or to more than ${MOST_CHILDREN} in one place`);
    this.name = 'SchemaTooLargeError';
  }
}

/**
 * Unfolds a schema from one of its elements. Types count by what they mean, not by what they are called, so that two
 * schemas can be compared that somebody else has written.
 * @throws SchemaTooLargeError
 */
export function outlineOf({ root, source }: XmlDocument, rootElement: string): Outline {
  const walker = new Walker(root, builtinPrefixOf(source.slice(root.start, source.indexOf('>', root.start))));
  const element = childrenOf(root, 'element').find((one) => attributeOf(one, 'name') === rootElement);
  if (element !== undefined) walker.take(element, '', 'once', []);
  return walker.outline;
}

/** The prefix under which the schema writes `string` and `integer`. */
function builtinPrefixOf(startTag: string): string {
  return /\sxmlns:([\w.-]+)\s*=\s*["']http:\/\/www\.w3\.org\/2001\/XMLSchema["']/.exec(startTag)?.[1] ?? '';
}

type Occurs = OutlineEntry['occurs'];
type Content = {
  readonly base: string;
  readonly attributes: readonly string[];
  readonly particles: readonly Particle[];
  readonly mixed: boolean;
};
type Particle = { readonly element: XmlElement; readonly occurs: Occurs };

const NOTHING: Content = { base: '', attributes: [], particles: [], mixed: false };

class Walker {
  readonly outline = new Map<string, OutlineEntry>();
  readonly #schema: XmlElement;
  readonly #builtinPrefix: string;
  #unfolded = 0;
  #depth = 0;

  constructor(schema: XmlElement, builtinPrefix: string) {
    this.#schema = schema;
    this.#builtinPrefix = builtinPrefix;
  }

  take(element: XmlElement, path: string, occurs: Occurs, within: readonly XmlElement[]): void {
    const declared = this.#declared(element, 'element');
    const content = this.#contentOf(declared);
    const children = content.particles.filter(({ element: { name } }) => name === 'element');
    const names = children.map((child) => nameOf(child.element));
    this.outline.set(path, { content: contentText(content), occurs, children: names });
    // An element that may hold itself is told once.
    if (within.includes(declared) || within.length >= MOST_LEVELS) return;
    for (const [index, child] of children.entries()) {
      const below = names[index] ?? '';
      this.take(child.element, path === '' ? below : `${path}/${below}`, child.occurs, [...within, declared]);
    }
  }

  /** Follows `ref`, so that a declaration is read where it is made. */
  #declared(element: XmlElement, kind: string): XmlElement {
    const ref = attributeOf(element, 'ref');
    return (ref === undefined ? undefined : this.#global(kind, ref)) ?? element;
  }

  #global(kind: string, name: string): XmlElement | undefined {
    if (this.#isBuiltin(name)) return undefined;
    return childrenOf(this.#schema, kind).find((one) => attributeOf(one, 'name') === localName(name));
  }

  #isBuiltin(name: string): boolean {
    return (name.includes(':') ? name.slice(0, name.indexOf(':')) : '') === this.#builtinPrefix;
  }

  #contentOf(element: XmlElement): Content {
    const type = attributeOf(element, 'type');
    if (type !== undefined) return this.#typeNamed(type);
    const inner = childOf(element, 'complexType') ?? childOf(element, 'simpleType');
    return inner === undefined ? { ...NOTHING, base: 'anything' } : this.#typeOf(inner);
  }

  #typeNamed(name: string): Content {
    const type = this.#global('complexType', name) ?? this.#global('simpleType', name);
    return type === undefined ? { ...NOTHING, base: localName(name) } : this.#typeOf(type);
  }

  #typeOf(type: XmlElement): Content {
    return this.#unfold(() => this.#contentOfType(type));
  }

  #contentOfType(type: XmlElement): Content {
    if (type.name === 'simpleType') return { ...NOTHING, base: this.#simple(type) };
    const derived = childOf(type, 'simpleContent') ?? childOf(type, 'complexContent');
    const extension = derived === undefined ? undefined : (childOf(derived, 'extension') ?? childOf(derived, 'restriction'));
    const own = this.#own(extension ?? type, attributeOf(type, 'mixed') === 'true');
    const base = extension === undefined ? undefined : attributeOf(extension, 'base');
    if (base === undefined) return own;
    const inherited = this.#typeNamed(base);
    return {
      base: inherited.base,
      attributes: [...inherited.attributes, ...own.attributes],
      particles: extension?.name === 'restriction' ? own.particles : [...inherited.particles, ...own.particles],
      mixed: own.mixed || inherited.mixed,
    };
  }

  #own(holder: XmlElement, mixed: boolean): Content {
    const attributes = childrenOf(holder, 'attribute').map((attribute) => {
      const name = attributeOf(attribute, 'name') ?? attributeOf(attribute, 'ref') ?? '';
      return attributeOf(attribute, 'use') === 'required' ? name : `${name}?`;
    });
    const particles = holder.children.flatMap((child) => this.#particles(child, 'once'));
    if (particles.length > MOST_CHILDREN) throw new SchemaTooLargeError();
    return { base: '', attributes, particles, mixed };
  }

  /** Elements and wildcards of a content model, with how often each may stand there. */
  #particles(model: XmlElement, around: Occurs): Particle[] {
    const occurs = combined(around, occursOf(model));
    switch (model.name) {
      case 'element':
      case 'any':
        return this.#unfold(() => [{ element: model, occurs }]);
      case 'sequence':
      case 'all':
        return model.children.flatMap((child) => this.#particles(child, occurs));
      case 'choice':
        return model.children.flatMap((child) => this.#particles(child, combined(occurs, 'at most once')));
      case 'group':
        return this.#unfold(() => this.#declared(model, 'group').children.flatMap((child) => this.#particles(child, occurs)));
      default:
        return [];
    }
  }

  #simple(type: XmlElement): string {
    const restriction = childOf(type, 'restriction');
    if (restriction === undefined) return type.children.some(({ name }) => name === 'list') ? 'list' : 'union';
    const values = childrenOf(restriction, 'enumeration').map((one) => attributeOf(one, 'value') ?? '');
    const facets = restriction.children
      .filter(({ name }) => name !== 'enumeration' && name !== 'annotation')
      .map((facet) => `${facet.name} ${attributeOf(facet, 'value') ?? ''}`);
    const base = attributeOf(restriction, 'base');
    const content = base === undefined ? 'string' : this.#typeNamed(base).base;
    const named = values.join(', ');
    const limits = [...(values.length === 0 ? [] : [t`one of ${named}`]), ...facets];
    return limits.length === 0 ? content : `${content} (${limits.join('; ')})`;
  }

  /** A type that is derived from itself would never end. */
  #unfold<T>(work: () => T): T {
    this.#unfolded++;
    this.#depth++;
    if (this.#unfolded > MOST_ENTRIES || this.#depth > MOST_LEVELS) throw new SchemaTooLargeError();
    const result = work();
    this.#depth--;
    return result;
  }
}

function nameOf(element: XmlElement): string {
  return attributeOf(element, 'name') ?? localName(attributeOf(element, 'ref') ?? '');
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function occursOf(particle: XmlElement): Occurs {
  const least = attributeOf(particle, 'minOccurs') ?? '1';
  const most = attributeOf(particle, 'maxOccurs') ?? '1';
  if (most === '1' || most === '0') return least === '0' ? 'at most once' : 'once';
  return least === '0' ? 'any number' : 'at least once';
}

/** Of a thing that may be left out, or may come again, so may the parts. */
function combined(outer: Occurs, inner: Occurs): Occurs {
  const optional = [outer, inner].some((one) => one === 'at most once' || one === 'any number');
  const many = [outer, inner].some((one) => one === 'any number' || one === 'at least once');
  if (many) return optional ? 'any number' : 'at least once';
  return optional ? 'at most once' : 'once';
}

function contentText({ base, attributes, particles, mixed }: Content): string {
  const wildcards = particles
    .filter(({ element: { name } }) => name === 'any')
    .map(({ element }) => anythingOf(attributeOf(element, 'namespace') ?? t`any namespace`));
  const elements = particles.length > wildcards.length ? [t`elements`] : [];
  const text = mixed || (base !== '' && particles.length === 0) ? [base === '' ? t`text` : base] : [];
  const parts = [...elements, ...wildcards, ...text];
  const content = parts.length === 0 ? t`nothing` : together(parts);
  const named = attributes.join(', ');
  return attributes.length === 0 ? content : t`${content} with ${named}`;
}

function anythingOf(namespace: string): string {
  return t`anything of ${namespace}`;
}
