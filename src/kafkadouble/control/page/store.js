// The requests that the page keeps: the latest 100,000, and those among them that pass the filter.

export const MOST = 100_000;

export class RequestStore {
  constructor() {
    this.all = [];
    this.places = new Map(); // number -> request
    this.shown = [];
    this.words = [];
    this.errorsOnly = false;
    this.missed = 0;
  }

  get last() { return this.all.length ? this.all[this.all.length - 1].number : null; }

  add(request) {
    const known = this.places.get(request.number);
    if (known) { Object.assign(known, request); return; }
    this.all.push(request);
    this.places.set(request.number, request);
    if (this.passes(request)) this.shown.push(request);
    if (this.all.length > MOST * 1.1) this.trim();
  }

  trim() {
    for (const gone of this.all.splice(0, this.all.length - MOST)) this.places.delete(gone.number);
    this.shown = this.all.filter((each) => this.passes(each));
  }

  passes(request) {
    if (this.errorsOnly && !request.errors.length && request.outcome !== "disconnected") return false;
    if (!this.words.length) return true;
    const text = request.text.toLowerCase();
    return this.words.every((word) => (word[0] === "-" ? !text.includes(word.slice(1)) : text.includes(word)));
  }

  // Each word must be in the line of a request; a word behind a - must not.
  narrow(text, errorsOnly) {
    this.words = text.toLowerCase().split(/\s+/).filter((word) => word && word !== "-");
    this.errorsOnly = errorsOnly;
    this.shown = this.all.filter((each) => this.passes(each));
  }

  clear() {
    this.all = [];
    this.places.clear();
    this.shown = [];
    this.missed = 0;
  }
}
