import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseHtml } from '../../../src/base/characters.ts';

describe('the text of HTML', () => {
  test.each([
    ['a < b & c > d', 'a < b & c > d'],
    ['úpěl & <b>', 'úpěl & <b>'],
    ['<p>a</p><p>b</p>', 'a\nb'],
    ['a<br/>b<!-- c', 'a\nb'],
    ['<style>p { }</style>a<br>', 'a'],
    ['<div>a &#x159; &bogus; &#0;</div>', 'a ř &bogus; &#0;'],
    ['<p>a < b', 'a < b'],
  ])('%s', (html, text) => expect(parseHtml(html).text).toBe(text));

  test('has the pictures that are shown, not those of another attribute', () => {
    const html = `<p>a</p><img data-src="later.jpg" src="spona.jpg"><img SRC=b.jpg><img src='c.jpg'`;
    expect(parseHtml(html).pictures).toEqual(['spona.jpg', 'b.jpg']);
  });

  test('is extracted quickly, for any input', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom(
            '<',
            '>',
            '<!--',
            '-->',
            '<img src="',
            '"',
            'a',
            ' ',
            '&',
            '<script>',
            '</p>',
          ),
          {
            maxLength: 60,
          },
        ),
        (parts) => {
          expect(typeof parseHtml(parts.join('')).text).toBe('string');
        },
      ),
    );
    for (const part of ['<!--', '<', '<script>', '<p ', '&', '<img src=', '\n ']) {
      expect(parseHtml(`<br>${part.repeat(200_000)}`).pictures.length).toBeLessThan(2);
    }
  });
});
