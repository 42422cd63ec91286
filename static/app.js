/* Extras only: every page works without this file. Needs htmx, loaded before it. */
(() => {
  const d = document, root = d.documentElement, on = (name, f) => d.addEventListener(name, f);
  const live = d.getElementById('live'), box = d.getElementById('say');
  root.dataset.js = '';

  /* A label changes in place; the button stays pressable, so that the server answers the second press. */
  const label = (b, text) => {
    const s = b.querySelector('span') || b;
    s.dataset.was ??= s.textContent;
    s.textContent = text;
  };
  const restore = () => d.querySelectorAll('[data-was]').forEach(s => {
    s.textContent = s.dataset.was;
    delete s.dataset.was;
  });
  on('submit', e => e.target.dataset.busy && e.submitter && label(e.submitter, e.submitter.dataset.busy || e.target.dataset.busy));
  addEventListener('pageshow', restore);

  /* A press that must not get lost is sent until an answer comes. Pressed twice, it is carried out once. */
  on('submit', e => {
    const form = e.target, away = d.getElementById(form.dataset.away);
    if (!away || form.asked === 2) return;
    e.preventDefault();
    if (form.asked) return;
    form.asked = 1;
    const ask = () => fetch(form.action, {method: 'POST', body: new URLSearchParams(new FormData(form, e.submitter)), signal: AbortSignal.timeout(30000)})
      .then(answer => {
        if (/50[24]/.test(answer.status)) throw answer;
        if (answer.redirected) return location.assign(answer.url);
        form.asked = 2;
        form.requestSubmit(e.submitter);
      })
      .catch(() => setTimeout(ask, 1000, away.hidden = false));
    ask();
  });
  on('click', e => {
    const b = e.target.closest('[data-copy]'), from = b && d.getElementById(b.dataset.copy);
    if (!from) return;
    from.select ? from.select() : getSelection().selectAllChildren(from);
    if (d.execCommand('copy')) {
      label(b, box.textContent = 'Copied');
      setTimeout(restore, 2000);
    }
  });

  /* Keys, where nothing is typed. Without the mark on the search box its person wants none. */
  const find = d.querySelector('[aria-keyshortcuts]');
  on('keydown', e => {
    if (e.key === 'Escape' && e.target === find) find.blur();
    if (!find || e.ctrlKey || e.altKey || e.metaKey || e.target.closest('input, select, textarea, [contenteditable]')) return;
    if (e.key === '/') e.preventDefault(find.focus());
    if (e.key === '?') location.assign('/help#keys');
  });

  /* Spoken summary: what [data-say] holds, when it changes, at most once in 30 s. */
  let said, saidAt = 0, timer;
  const speak = () => {
    const text = [...d.querySelectorAll('[data-say]')].map(s => s.dataset.say).join(' ');
    const wait = saidAt + 30000 - Date.now();
    clearTimeout(timer);
    if (said === undefined) said = text;
    if (text === said) return;
    if (wait > 0) return timer = setTimeout(speak, wait);
    saidAt = Date.now();
    box.textContent = said = text;
  };
  speak();
  on('htmx:after:swap', speak);

  /* Uploads: a file that is chosen goes at once, with what its form holds. The answer leads on, or is the page again with what is wrong. */
  const upload = input => {
    const x = new XMLHttpRequest(), box = input.closest('.upload'), file = input.files[0];
    const going = box.querySelector('.going'), [name, bar, share, cancel] = going.children, fault = box.lastElementChild;
    const end = text => {
      going.hidden = true;
      input.value = '';
      fault.textContent = text;
      input.focus();
    };
    if (!file) return;
    name.lastElementChild.textContent = file.name;
    const data = new FormData();
    data.set('size', file.size);
    new FormData(input.form).forEach((value, key) => (key !== 'file' || file.size <= input.dataset.upload) && data.append(key, value));
    fault.textContent = '';
    going.hidden = false;
    cancel.onclick = () => end('', x.abort());
    x.upload.onprogress = e => {
      bar.value = 100 * e.loaded / e.total;
      share.textContent = e.loaded < e.total ? Math.floor(bar.value) + '%' : 'Reading it…';
    };
    x.onerror = () => end('The connection broke off. Choose the file again');
    x.onload = () => {
      const to = x.getResponseHeader('HX-Redirect');
      if (to) return location.assign(to);
      const page = new DOMParser().parseFromString(x.responseText, 'text/html'), again = page.getElementById(box.id);
      if (!again) return end(x.responseText);
      box.replaceWith(again);
      d.title = page.title;
      again.querySelector('input').focus();
    };
    x.open('POST', input.dataset.to);
    x.setRequestHeader('HX-Request', 'true');
    x.send(data);
  };
  on('change', e => e.target.dataset.upload && upload(e.target));

  /* The message: chips go in where the cursor stands, and what lies behind the letters is painted as they are typed. */
  on('click', e => {
    const chip = e.target.closest('[data-put]'), text = chip && chip.form.elements.text;
    if (!text) return;
    e.preventDefault();
    text.setRangeText(chip.dataset.put, text.selectionStart, text.selectionEnd, 'end');
    text.focus();
    text.dispatchEvent(new Event('input', {bubbles: true}));
  });
  on('input', e => {
    const behind = e.target.dataset.mirror && d.getElementById(e.target.dataset.mirror);
    if (!behind) return;
    behind.replaceChildren(...e.target.value.split(/(##[^#\n]+##)/).map((part, i) => {
      const run = d.createElement(i % 2 ? 'mark' : 'span');
      run.textContent = part;
      return run;
    }));
  });
  d.addEventListener('scroll', e => {
    const behind = e.target.dataset?.mirror && d.getElementById(e.target.dataset.mirror);
    if (behind) behind.scrollTop = e.target.scrollTop;
  }, true);
  ['dragover', 'drop'].forEach(n => on(n, e => e.target.type !== 'file' && e.dataTransfer.types.includes('Files') && e.preventDefault()));

  /* Settings: how many are changed and not saved. Taking them back is the form's own reset. */
  const unsaved = d.querySelector('[data-unsaved]');
  const changed = x => x.name && (x.type === 'checkbox' ? x.checked !== x.defaultChecked : x.options
    ? x.selectedIndex !== Math.max(0, [...x.options].findIndex(o => o.defaultSelected)) : x.value !== x.defaultValue);
  const count = () => setTimeout(() => {
    const n = [...d.getElementById(unsaved.dataset.unsaved).elements].filter(changed).length;
    unsaved.previousElementSibling.hidden = n;
    unsaved.hidden = !n;
    unsaved.firstChild.textContent = n + (n > 1 ? ' changes' : ' change') + ', not saved.';
  });
  if (unsaved) ['input', 'change', 'reset'].forEach(name => on(name, count));
  if (unsaved) addEventListener('pageshow', count);

  /* Enter in a row to fix leads to the next one. */
  on('keydown', e => {
    if (e.key !== 'Enter' || !e.target.matches('.fixes .input')) return;
    e.preventDefault();
    const boxes = [...d.querySelectorAll('.fixes .input')];
    (boxes[boxes.indexOf(e.target) + 1] || d.getElementById('go-on')).focus();
  });

  /* Until the next page is there, the one of a session that ended asks for nothing. */
  on('submit', e => {
    if (!/(signout|end)$/.test(e.target.action)) return;
    on('htmx:before:request', e => e.preventDefault());
    d.querySelectorAll('[hx-get]').forEach(part => htmx.trigger(part, 'htmx:abort'));
  });

  /* A morph must not close what a person has opened. */
  htmx.registerExtension('desk', {
    htmx_before_morph_attr: (el, a) => !(a.attrName === 'open' && el.tagName === 'DETAILS'),
  });

  /* Live state in words, by :root[data-live]. The trigger of #live retries a stream that never opened. */
  if (!live) return;
  let fails = 0, refused = 0, over = false;
  const fail = status => {
    refused = status === 429;
    over = [401, 403, 404].includes(status);
    if (refused) new URLSearchParams(live.getAttribute('hx-sse:connect').split('?')[1]).getAll('t').forEach(t => htmx.trigger(live, t));
    else if (++fails > 2 || over) root.dataset.live = 'stopped';
  };
  on('htmx:sse:after:connection', () => {
    fails = 0;
    root.dataset.live = 'on';
  });
  on('htmx:sse:error', e => fail(e.detail.status));
  on('htmx:response:error', e => e.target === live && fail(e.detail.ctx.response.status));
  on('htmx:error', e => e.target === live && fail());
  on('htmx:sse:before:connection', e => (over || refused) && e.preventDefault());
  on('htmx:config:request', e => {
    if (e.target !== live) return;
    refused = 0;
    if (over || d.hidden) e.preventDefault();
  });
})();
