// Runs before the first paint, so that the chosen theme and language do not flash.
(() => {
  const root = document.documentElement;
  let theme, lang;
  try {
    theme = localStorage.getItem('agentmesh.theme');
    lang = localStorage.getItem('agentmesh.lang');
  } catch { /* storage may be switched off */ }
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
  if (lang !== 'zh' && lang !== 'en') lang = /^zh/i.test(navigator.language) ? 'zh' : 'en';
  root.lang = lang === 'zh' ? 'zh-CN' : 'en';
})();
