/**
 * One find on grey cloth, lit from the upper left, with a scale and a label, as in a field
 * photograph.
 */
import { makeNoise } from './shapes.mjs';

const CLOTH = [178, 176, 170];
const LIGHT = [-0.5, -0.6, 0.62];

/** 5×7 dots, one row of five bits a hexadecimal pair. */
const LETTERS = {
  0: '0e11131519110e',
  1: '040c040404040e',
  2: '0e11010204081f',
  3: '1f02040201110e',
  4: '02060a121f0202',
  5: '1f101e0101110e',
  6: '0608101e11110e',
  7: '1f010204080808',
  8: '0e11110e11110e',
  9: '0e11110f01020c',
  H: '1111111f111111',
  K: '11121418141211',
  R: '1e11111e141211',
  '-': '0000001f000000',
  c: '00000e1010110e',
  m: '00001a15151111',
  ' ': '00000000000000',
};

/**
 * @param {{label: string, seed: number, pixelsPerCm: number, shape: Function, relief?: Function,
 * colour: number[],
 *   shine?: number, roughness?: number, edgeCm?: number, paint?: Function}} find
 * @returns {{width: number, height: number, rgb: Uint8Array}}
 */
export function draw(find, width, height, { grain }) {
  const { seed, pixelsPerCm: scale, shape } = find;
  const noise = makeNoise(seed);
  const rgb = new Uint8Array(width * height * 3);
  for (let py = 0; py < height; py++) {
    for (let px = 0; px < width; px++) {
      const [x, y] = [(px - width / 2) / scale, (py - height * 0.46) / scale];
      const cover = Math.min(1, Math.max(0, shape(x, y) * scale + 0.5));
      const under = cover < 1 ? clothAt(find, noise, x, y, width / scale) : CLOTH;
      const over = cover > 0 ? surfaceAt(find, noise, x, y) : CLOTH;
      const dust = grain ? (noise(px * 1.9, py * 1.9) - 0.5) * 10 : 0;
      for (let i = 0; i < 3; i++)
        rgb[(py * width + px) * 3 + i] = clamp(under[i] * (1 - cover) + over[i] * cover + dust);
    }
  }
  const picture = { width, height, rgb };
  drawScale(picture, scale);
  drawText(picture, find.label, width - 12 - find.label.length * 12, height - 28);
  return picture;
}

function clothAt({ shape }, noise, x, y, widthCm) {
  const shadow = Math.min(1, Math.max(0, (shape(x - 0.12, y - 0.14) + 0.18) / 0.3));
  const weave = (noise(x * 3, y * 3) - 0.5) * 6;
  const shade = 1 - 0.5 * shadow - 0.12 * Math.hypot(x / widthCm, y / widthCm);
  return CLOTH.map((value) => (value + weave) * shade);
}

function surfaceAt(find, noise, x, y) {
  const { colour, shine = 0.15, roughness = 0.5, paint } = find;
  const step = 0.02;
  const height = (hx, hy) => heightAt(find, noise, hx, hy);
  const slopeX = (height(x + step, y) - height(x - step, y)) / (2 * step);
  const slopeY = (height(x, y + step) - height(x, y - step)) / (2 * step);
  const length = Math.hypot(slopeX, slopeY, 1);
  const lit = Math.max(0, (-slopeX * LIGHT[0] - slopeY * LIGHT[1] + LIGHT[2]) / length);
  const gloss =
    Math.max(0, (-slopeX * LIGHT[0] - slopeY * LIGHT[1] + LIGHT[2] + 1) / (length * 2)) ** 24;
  const patches = 1 + (noise(x * 1.3 + 40, y * 1.3) - 0.5) * roughness;
  const own = paint?.(x, y) ?? colour;
  return own.map((value) => value * (0.35 + 0.85 * lit) * patches + 255 * shine * gloss);
}

/** Centimetres above the cloth: rounded towards the edge, then the find's own relief, then wear. */
function heightAt({ shape, relief, roughness = 0.5, edgeCm = 0.35 }, noise, x, y) {
  const toEdge = Math.min(1, Math.max(0, shape(x, y) / edgeCm));
  return (
    Math.sqrt(1 - (1 - toEdge) ** 2) * edgeCm * 0.8 +
    (relief?.(x, y) ?? 0) +
    (noise(x * 5, y * 5) - 0.5) * 0.12 * roughness
  );
}

function drawScale(picture, pixelsPerCm) {
  const [left, top, thick] = [14, picture.height - 26, 8];
  const centimetres = Math.max(1, Math.min(5, Math.floor((picture.width * 0.45) / pixelsPerCm)));
  for (let cm = 0; cm < centimetres; cm++) {
    const [from, to] = [left + cm * pixelsPerCm, left + (cm + 1) * pixelsPerCm];
    fill(picture, from, top, to, top + thick, 20);
    if (cm % 2 === 1) fill(picture, from, top + 1, to, top + thick - 1, 245);
  }
  drawText(picture, `${centimetres} cm`, left + centimetres * pixelsPerCm + 8, top - 4);
}

function drawText(picture, text, left, top) {
  [...text].forEach((letter, index) => {
    Buffer.from(LETTERS[letter], 'hex').forEach((row, y) => {
      for (let x = 0; x < 5; x++) {
        const [px, py] = [left + index * 12 + x * 2, top + y * 2];
        if ((row >> (4 - x)) & 1) fill(picture, px, py, px + 2, py + 2, 20);
      }
    });
  });
}

function fill({ width, rgb }, left, top, right, bottom, grey) {
  for (let y = Math.round(top); y < bottom; y++)
    for (let x = Math.round(left); x < right; x++)
      rgb.fill(grey, (y * width + x) * 3, (y * width + x) * 3 + 3);
}

function clamp(value) {
  return Math.max(0, Math.min(255, Math.round(value)));
}
