// A search result quotes words rather than code, and leads to the first that matches.
addEventListener("DOMContentLoaded", () => {
  Search.htmlToText = (page, anchor) => {
    const main = new DOMParser().parseFromString(page, "text/html");
    main.querySelectorAll("pre, script, style, svg, .links, .headerlink").forEach((e) => e.remove());
    return (anchor && main.querySelector(anchor) || main.querySelector("article")).textContent;
  };
  if (DOCUMENTATION_OPTIONS.pagename === "search") return;
  // Sphinx would do this itself, but not where the theme loads its search on each page.
  SphinxHighlight.highlightSearchWords();
  setTimeout(() => {
    const marks = [...document.querySelectorAll("article .highlighted")];
    const mark = marks.find((mark) => mark.checkVisibility());
    if (!location.hash) mark?.scrollIntoView({ block: "center" });
  }, 100);
});
