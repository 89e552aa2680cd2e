/** Names of elements and attributes: XML 1.0 (fifth edition), productions 4 and 4a; Namespaces in XML 1.0, section 4. */

export type QualifiedName = { readonly prefix: string; readonly local: string };

const NAME_START =
  'A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}\\u{200D}' +
  '\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}';
const NAME = `[${NAME_START}][${NAME_START}.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}\\u{2040}-]*`;
const QUALIFIED_NAME = new RegExp(`^(?:(${NAME}):)?(${NAME})$`, 'u');

/** Undefined where the text is no qualified name. */
export function splitName(text: string): QualifiedName | undefined {
  const match = QUALIFIED_NAME.exec(text);
  return match === null ? undefined : { prefix: match[1] ?? '', local: match[2] ?? '' };
}
