import { element, follow, getPart } from './element.js';

/** @import { Fault, FaultRule } from './control.js' */

/** Words and field of each condition. */
const CONDITIONS = new Map([
  ['nth', { words: 'Which (from 1)', field: { type: 'number', min: '1', step: '1', value: '1' } }],
  [
    'every',
    { words: 'Every how many', field: { type: 'number', min: '1', step: '1', value: '5' } },
  ],
  [
    'probability',
    {
      words: 'Probability',
      field: { type: 'number', min: '0', max: '1', step: 'any', value: '0.05' },
    },
  ],
  ['ident', { words: 'Record', field: { type: 'text', min: '', step: '', value: '' } }],
]);
/** Endpoints whose requests name a record. */
const WITH_IDENT = ['number', 'photo', 'oai'];

/** The faults that are set, each with its switch, and the form that sets another. */
export class FaultPanel {
  #rules = getPart('fault-rules', HTMLUListElement);
  #form = getPart('fault-form', HTMLFormElement);
  #endpoint = getPart('fault-endpoint', HTMLSelectElement);
  #name = getPart('fault-name', HTMLSelectElement);
  #when = getPart('fault-when', HTMLSelectElement);
  #condition = getPart('fault-condition', HTMLLabelElement);
  #value = getPart('fault-condition-value', HTMLInputElement);
  /** @type {Fault[]} */
  #catalogue = [];
  #act;

  /**
   * @param {(method: 'POST' | 'PUT' | 'DELETE', path: string, body: unknown, done: string) => void}
   * act
   */
  constructor(act) {
    this.#act = act;
    this.#endpoint.addEventListener('change', () => this.#offerFaults());
    this.#name.addEventListener('change', () => this.#offerOptions());
    this.#when.addEventListener('change', () => this.#offerCondition());
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      const rule = this.#readRuleOfForm();
      act('POST', '/faults', rule, `Added: ${rule.fault} on ${rule.endpoint}.`);
    });
    getPart('faults-clear', HTMLButtonElement).addEventListener('click', () =>
      act('DELETE', '/faults', undefined, 'No fault is set.'),
    );
  }

  /** Every fault that the server knows. @param {Fault[]} catalogue */
  offer(catalogue) {
    this.#catalogue = catalogue;
    const endpoints = [...new Set(catalogue.flatMap((fault) => fault.endpoints))];
    this.#endpoint.replaceChildren(
      ...endpoints.map((name) => element('option', { value: name }, name)),
    );
    this.#offerFaults();
  }

  /** @param {readonly FaultRule[]} rules */
  show(rules) {
    follow(
      this.#rules,
      rules,
      (rule) => rule.id,
      (rule) => this.#ruleRow(rule),
    );
    rules.forEach((rule, index) => {
      const row = this.#rules.children[index];
      const counters = row?.querySelector('.counters');
      if (counters) counters.textContent = `struck ${rule.struck} of ${rule.seen}`;
      const toggle = row?.querySelector('input');
      if (toggle) toggle.checked = rule.active !== false;
      row?.classList.toggle('off', rule.active === false);
    });
    getPart('faults-none', HTMLElement).hidden = rules.length > 0;
    getPart('faults-clear', HTMLButtonElement).hidden = rules.length === 0;
  }

  /** @param {FaultRule} rule */
  #ruleRow({ id, endpoint, fault, when, times, retry_after, ms, status, at }) {
    const name = `${fault} on ${endpoint}`;
    const limits = [
      formatCondition(when),
      times === undefined ? '' : `${times} time${times === 1 ? '' : 's'} at most`,
      retry_after === undefined ? '' : `Retry-After ${retry_after} s`,
      ms === undefined ? '' : `${ms} ms`,
      status === undefined ? '' : `status ${status}`,
      at === 'save' ? 'just before saving' : '',
    ].filter((text) => text !== '');
    /** @param {Event} event */
    const toggle = (event) => {
      const active = event.target instanceof HTMLInputElement && event.target.checked;
      this.#act('PUT', `/faults/${id}`, { active }, `${active ? 'On' : 'Off'}: ${name}.`);
    };
    const remove = () => this.#act('DELETE', `/faults/${id}`, undefined, `Removed: ${name}.`);
    return element(
      'li',
      {},
      element(
        'label',
        { class: 'switch' },
        element('input', { type: 'checkbox', change: toggle }),
        element('span', {}, element('strong', {}, fault), ' on ', element('strong', {}, endpoint)),
      ),
      element('span', { class: 'limits muted small' }, limits.join(' · ')),
      element('span', {
        class: 'counters small',
        title: 'requests struck, of those that met the rule',
      }),
      element(
        'button',
        {
          type: 'button',
          class: 'remove',
          click: remove,
          'aria-label': `Remove ${name}`,
          title: 'Remove',
        },
        '×',
      ),
    );
  }

  #offerFaults() {
    const before = this.#name.value;
    const fitting = this.#catalogue.filter((fault) =>
      fault.endpoints.includes(this.#endpoint.value),
    );
    this.#name.replaceChildren(
      ...fitting.map(({ fault }) =>
        element('option', { value: fault, selected: fault === before }, fault),
      ),
    );
    const byIdent = this.#when.querySelector('option[value="ident"]');
    if (byIdent instanceof HTMLOptionElement) {
      byIdent.disabled = !WITH_IDENT.includes(this.#endpoint.value);
      if (byIdent.disabled && byIdent.selected) this.#when.value = '';
    }
    this.#offerOptions();
    this.#offerCondition();
  }

  #offerOptions() {
    const fault = this.#catalogue.find((candidate) => candidate.fault === this.#name.value);
    getPart('fault-meaning', HTMLElement).textContent = fault?.meaning ?? '';
    for (const label of this.#form.querySelectorAll('label[data-option]')) {
      if (label instanceof HTMLElement)
        label.hidden = fault?.options.includes(label.dataset['option'] ?? '') !== true;
    }
  }

  #offerCondition() {
    const condition = CONDITIONS.get(this.#when.value);
    this.#condition.hidden = condition === undefined;
    this.#value.required = condition !== undefined;
    if (condition === undefined) return;
    const words = this.#condition.querySelector('span');
    if (words !== null) words.textContent = condition.words;
    Object.assign(this.#value, { max: '', ...condition.field });
  }

  /** @returns {{ endpoint: string, fault: string }} */
  #readRuleOfForm() {
    const condition = this.#when.value;
    const value = condition === 'ident' ? this.#value.value.trim() : Number(this.#value.value);
    return {
      endpoint: this.#endpoint.value,
      fault: this.#name.value,
      ...(condition === '' ? {} : { when: { [condition]: value } }),
      ...readNumber('times', getPart('fault-times', HTMLInputElement)),
      ...readNumber('retry_after', getPart('fault-retry-after', HTMLInputElement)),
      ...readNumber('ms', getPart('fault-ms', HTMLInputElement)),
      ...readNumber('status', getPart('fault-status', HTMLInputElement)),
      ...(getPart('fault-at', HTMLSelectElement).value === 'save' && this.#name.value === 'slow'
        ? { at: 'save' }
        : {}),
    };
  }
}

/**
 * An optional number of the form: nothing where it is empty or does not belong to the fault. @param
 * {string} name @param {HTMLInputElement} field
 */
function readNumber(name, field) {
  const hidden = field.closest('label')?.hidden === true;
  return hidden || field.value === '' ? {} : { [name]: Number(field.value) };
}

/** @param {FaultRule['when']} when */
function formatCondition(when = {}) {
  const texts = Object.entries(when).map(([name, value]) => {
    if (name === 'nth') return `only number ${value}`;
    if (name === 'every') return `every ${value} requests`;
    return name === 'ident' ? `only ${value}` : `${name} ${value}`;
  });
  return texts.length === 0 ? 'every time' : texts.join(', ');
}
