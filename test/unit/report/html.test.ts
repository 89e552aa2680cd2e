import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type HtmlPart, html, renderPart } from '../../../src/report/html.ts';

const BACK: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  '#13': '\r',
};

/** As a browser reads text and quoted attributes. */
function read(escaped: string): string {
  return escaped.replace(/&([a-z#\d]+);/g, (_, name: string) => BACK[name] ?? '?');
}

describe('markup from a template', () => {
  test('renders any text exactly, and opens no tag or quote with it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const markup = renderPart(html`<b title="${text}">${text}</b>`);
        const inside = /^<b title="([^"<>]*)">([^"<>]*)<\/b>$/.exec(markup);
        const expected = text.replaceAll('\0', '\ufffd');
        expect([read(inside?.[1] ?? ''), read(inside?.[2] ?? '')]).toEqual([expected, expected]);
      }),
    );
  });

  test('inserts lists and markup unchanged, and nothing for nothing', () => {
    const items = ['a', '<b>'].map((text) => html`<li>${text}</li>`);
    expect(renderPart(html`<ul>${items}${undefined}${7}</ul>`)).toBe(
      '<ul><li>a</li><li>&lt;b&gt;</li>7</ul>',
    );
  });

  test('rejects values that only look like markup', () => {
    const forged = JSON.parse('{"markup":"<script>","length":0}') as HtmlPart;
    expect(() => renderPart(html`${forged}`)).toThrow();
  });
});
