/**
 * YAML as far as our workflow needs it: no tags, anchors, flow mappings, and no quotes except in a
 * list.
 */
export type Yaml = string | readonly Yaml[] | { readonly [key: string]: Yaml };

type Line = { readonly number: number; readonly indent: number; readonly text: string };

/**
 * Reads the plain part of YAML: what it accepts, every reader of YAML reads in the same way.
 * @throws Error naming the line of anything else: tabs, quotes, odd indentation, a key that is
 * there twice
 */
export function readYaml(source: string): Yaml {
  const lines = source
    .split('\n')
    .map((text, index) => ({ number: index + 1, indent: text.search(/\S|$/), text: text.trim() }));
  const raw = source.split('\n');
  let at = 0;

  const fail = (line: Line | undefined, why: string): never => {
    throw new Error(`line ${line?.number ?? lines.length}: ${why}`);
  };
  const peek = (): Line | undefined => {
    while (at < lines.length && (lines[at]?.text === '' || lines[at]?.text.startsWith('#')))
      at += 1;
    const line = lines[at];
    if (raw[at]?.includes('\t')) fail(line, 'a tab');
    return line;
  };

  const scalar = (text: string, line: Line): Yaml => {
    const list = /^\[((?:[\w, -]|"[\w:-]+")*)\]$/.exec(text);
    if (list !== null)
      return (list[1] ?? '').split(',').map((each) => each.replaceAll('"', '').trim());
    if (text === '' || /^["'[\]{}&*!>%@`|]/.test(text) || /: |:$| #/.test(text))
      fail(line, `not a plain value: ${text}`);
    return text;
  };

  const blockText = (parentIndent: number): string => {
    const indent = lines[at]?.indent ?? 0;
    if (indent <= parentIndent) fail(lines[at], 'a text that is not indented');
    const taken: string[] = [];
    for (
      ;
      at < lines.length && (lines[at]?.text === '' || (lines[at]?.indent ?? 0) >= indent);
      at += 1
    )
      taken.push((raw[at] ?? '').slice(indent));
    return `${taken.join('\n').trimEnd()}\n`;
  };

  const valueAfterKey = (text: string, line: Line, indent: number): Yaml => {
    if (text === '|') return blockText(indent);
    if (text !== '') return scalar(text, line);
    const below = peek();
    return below !== undefined && below.indent > indent
      ? node(below.indent)
      : fail(line, 'a key without a value');
  };

  /** @param first the first pair, where it stands behind the dash of a list */
  const mapping = (indent: number, first?: Line): Yaml => {
    const pairs = new Map<string, Yaml>();
    let line = first ?? peek();
    while (line !== undefined && line.indent === indent && !line.text.startsWith('- ')) {
      at += 1;
      const [, key = '', text = ''] =
        /^([\w-]+):(?: +(.*))?$/.exec(line.text) ?? fail(line, `no key: ${line.text}`);
      if (pairs.has(key)) fail(line, `${key} is there twice`);
      pairs.set(key, valueAfterKey(text, line, indent));
      line = peek();
    }
    if (line !== undefined && line.indent > indent) fail(line, 'indented for no reason');
    return Object.fromEntries(pairs);
  };

  const sequence = (indent: number): Yaml => {
    const items: Yaml[] = [];
    for (let line = peek(); line?.indent === indent && line.text.startsWith('- '); line = peek())
      items.push(
        mapping(indent + 2, { ...line, indent: indent + 2, text: line.text.slice(2).trim() }),
      );
    return items;
  };

  const node = (indent: number): Yaml =>
    peek()?.text.startsWith('- ') === true ? sequence(indent) : mapping(indent);
  const all = node(0);
  if (peek() !== undefined) fail(peek(), 'read no further than here');
  return all;
}
