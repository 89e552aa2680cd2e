import { type AST, RegExpParser } from '@eslint-community/regexpp';

/**
 * A text on which a pattern may go back again and again: `pump` is repeated, and `end` lets what
 * was matched fail.
 */
export type Attack = { readonly start: string; readonly pump: string; readonly end: string };

/** Representatives of the classes that patterns have. */
const CHARACTERS = [
  ...' \t\n\r\u00a0aAxzžČ中09_-.,:;/\\\'"<>()[]{}|!?#$%&*+=@^~`\0\u0001\u001b\u200b\u2028\ufffd°\u0301',
];
const MAX_SAMPLES = 3;
const MAX_STARTS = 8;
const MAX_PUMPS = 60;
const MAX_ENDS = 6;
/** Fails behind most that is repeated; `.` and a final `$` stop at the line break. */
const ENDS = ['\u0001', '\n\u0001'];

/**
 * Makes texts from the parts of a pattern: each starts with what leads to a repetition, and repeats
 * a character or a part of the pattern. A pattern without an unlimited repetition has none.
 */
export function attacksOn(source: string, flags: string): Attack[] {
  const patterns = new Found(flags);
  patterns.visit(
    new RegExpParser().parsePattern(source, 0, source.length, { unicode: flags.includes('u') }),
    '',
  );
  const { starts, characters, words, ends } = patterns;
  if (starts.size === 0) return [];
  const pumps = [...new Set([...characters, ...words, ...ends])]
    .filter((pump) => pump !== '')
    .slice(0, MAX_PUMPS);
  const allEnds = [...ENDS, ...[...ends].map((end) => `${end}\n\u0001`).slice(-MAX_ENDS)];
  return ['', ...starts]
    .slice(0, MAX_STARTS)
    .flatMap((start) => pumps.flatMap((pump) => allEnds.map((end) => ({ start, pump, end }))));
}

export function attackText({ start, pump, end }: Attack, length: number): string {
  return start + pump.repeat(Math.ceil(length / pump.length)) + end;
}

class Found {
  readonly starts = new Set<string>();
  /** Tables of classes. */
  readonly characters = new Set<string>();
  readonly words = new Set<string>();
  readonly ends = new Set<string>();
  readonly #flags: string;

  constructor(flags: string) {
    this.#flags = flags.replace(/[gy]/g, '');
  }

  /** @param before text that leads to the node */
  visit(node: AST.Node, before: string): void {
    switch (node.type) {
      case 'Quantifier':
        if (node.max === Number.POSITIVE_INFINITY) this.starts.add(before);
        this.visit(node.element, before);
        break;
      case 'Pattern':
      case 'Group':
      case 'CapturingGroup':
      case 'Assertion':
        for (const { elements } of 'alternatives' in node ? node.alternatives : []) {
          for (const [index, element] of elements.entries()) {
            this.visit(element, before + this.#words(elements.slice(0, index)));
            const last = elements[index - 1];
            const next = elements[index + 1];
            const isInWord = (other: AST.Element | undefined): boolean =>
              element.type === 'Character' && other?.type === 'Character';
            if (!isInWord(next)) this.words.add(this.#words(elements.slice(0, index + 1)));
            if (!isInWord(last)) this.words.add(this.#words(elements.slice(index)));
          }
        }
        break;
      case 'Character':
        this.ends.add(this.#word(node));
        break;
      case 'CharacterSet':
      case 'CharacterClass':
        for (const character of this.#samples(node.raw)) this.characters.add(character);
        break;
      default:
    }
  }

  #words(elements: readonly AST.Element[]): string {
    return elements.map((element) => this.#word(element)).join('');
  }

  /** A short text that the node matches. */
  #word(node: AST.Node): string {
    switch (node.type) {
      case 'Character':
        return String.fromCodePoint(node.value);
      case 'CharacterSet':
      case 'CharacterClass':
        return this.#samples(node.raw)[0] ?? '';
      case 'Quantifier':
        return this.#word(node.element).repeat(Math.max(1, node.min));
      case 'Group':
      case 'CapturingGroup':
        return this.#words(node.alternatives[0]?.elements ?? []);
      case 'Backreference':
        return [node.resolved].flat().map((group) => this.#word(group))[0] ?? '';
      default:
        return '';
    }
  }

  #samples(raw: string): string[] {
    const pattern = new RegExp(`^${raw}$`, this.#flags);
    return CHARACTERS.filter((character) => pattern.test(character)).slice(0, MAX_SAMPLES);
  }
}
