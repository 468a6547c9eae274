// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/page.h"

#include <fmt/format.h>

#include "base/text/markup.h"

namespace hone {
namespace {

// In both schemes the contrast ratio of text and background is at least 4.5.
constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark;--ink:#1a1c20;--soft:#59606b;--line:#d5d9df;--paper:#fff;--panel:#f4f6f8;--accent:#0b64c0;--pale:#a9cdf3;
--good:#126a43;--bad:#b3262b;--warn:#7a4d00;--same:#8a929e;--addbg:#def3e6;--delbg:#fde7e7;--key:#7b2d8b;--num:#8a4600;--dir:#0b5c6b;--com:#5d6672}
@media(prefers-color-scheme:dark){:root{--ink:#e8eaed;--soft:#a3acb8;--line:#363d47;--paper:#14171b;--panel:#1d2127;--accent:#6cb1ff;
--pale:#2b5788;--good:#62d6a0;--bad:#ff9090;--warn:#f0bd6a;--same:#6f7885;--addbg:#123322;--delbg:#3f1a1d;--key:#d8a3e6;--num:#f0b07a;--dir:#7fd0de;--com:#98a1ad}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:66rem;padding:1rem 1rem 4rem;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem;line-height:1.25;margin:.5rem 0}
h2{font-size:1.2rem;margin:2.4rem 0 .6rem}
p{margin:.5rem 0;max-width:46rem}
a{color:var(--accent)}
.soft{color:var(--soft)}.good{color:var(--good)}.bad{color:var(--bad)}
.badge{display:inline-block;padding:0 .55rem;border:1px solid currentColor;border-radius:1rem;font-size:.85rem;color:var(--warn)}
nav{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:.95rem;margin:.6rem 0}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.6rem;margin:1rem 0}
.tile{background:var(--panel);border-radius:.5rem;padding:.6rem .8rem}
.tile b{display:block;font-size:1.45rem;line-height:1.2;font-variant-numeric:tabular-nums;font-weight:650}
.tile span{color:var(--soft);font-size:.88rem}
.scroll{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;width:100%;font-size:.92rem}
th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:normal}
th{color:var(--soft);font-weight:600}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
th.number{white-space:normal}td.idea{min-width:14rem}td.long{overflow-wrap:anywhere;min-width:9rem;max-width:18rem}
figure{margin:.6rem 0}figcaption{color:var(--soft);font-size:.9rem;margin:.35rem 0}
svg{display:block;background:var(--panel);border-radius:.5rem;max-width:none}
.wide svg,.narrow svg{width:100%;height:auto}
.narrow{display:none}
.tree{max-height:40rem;overflow:auto;background:var(--panel);border-radius:.5rem;padding:0 .6rem .4rem;font-size:.92rem}
.lanes{display:flex}.lanes svg{background:none;flex:none}.rows{flex:1;min-width:0}
.row{display:grid;grid-template-columns:2.6rem 1fr 6.5rem 9.5rem;gap:0 .7rem;height:26px;line-height:26px;color:inherit;text-decoration:none}
.row>*{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}.row .id{text-align:right;color:var(--soft)}
a.row:hover,a.row:focus{background:var(--paper)}.row.best{font-weight:650}
.row.top{position:sticky;top:0;background:var(--panel);color:var(--soft);font-weight:600;border-bottom:1px solid var(--line);height:auto;line-height:1.3;align-items:end;padding:.4rem 0 .2rem;z-index:1}.row.top>*{white-space:normal}
.x{stroke:var(--bad);stroke-width:1.8;fill:none}
.bars{background:var(--panel);border-radius:.5rem;padding:.7rem .9rem}
.bar{display:grid;grid-template-columns:minmax(8rem,15rem) 1fr 12.5rem;gap:0 .8rem;align-items:center;padding:.22rem 0}
.bar .name{grid-column:1;grid-row:1/3}.bar .value{grid-column:3;grid-row:1;font-variant-numeric:tabular-nums}
.bar small{color:var(--soft);white-space:nowrap}
.track{grid-column:2;grid-row:1;position:relative;height:1.1rem;display:flex}
.bars:not(.plain) .track::after{content:"";position:absolute;left:var(--one);top:-.22rem;bottom:-.22rem;border-left:2px dashed var(--soft)}
.fill{background:var(--accent);height:100%;border-radius:0 .15rem .15rem 0}.fill.seed{background:var(--pale)}
.fill.slow{background:var(--bad)}.fill.same{background:var(--same)}
.floor{grid-column:2;grid-row:2;position:relative;height:.4rem;border:1px solid var(--line);border-radius:.2rem}.fill.floored{display:block;background:var(--pale)}
.was{position:absolute;top:-.15rem;bottom:-.15rem;border-left:2px solid var(--ink)}
.under{grid-column:3;grid-row:2;font-size:.85rem;color:var(--soft)}
.ci{position:absolute;top:50%;height:.55rem;margin-top:-.275rem;border:solid var(--ink);border-width:0 2px;background:linear-gradient(var(--ink),var(--ink)) center/100% 2px no-repeat}
pre{background:var(--panel);padding:.75rem;border-radius:.5rem;overflow-x:auto;font:13px/1.5 ui-monospace,"SF Mono",Menlo,Consolas,monospace;margin:.5rem 0;max-width:100%;overflow-wrap:normal}
pre.code{padding:.5rem 0}
pre.code>span{display:block;min-height:1.5em;padding:0 .75rem;width:max-content;min-width:100%}
pre.code>span[data-n]::before{content:attr(data-n);color:var(--soft);margin-right:1.2em;user-select:none}
ul.findings{margin:.5rem 0;padding-left:1.2rem}tr.best td{background:var(--addbg)}
pre .add{background:var(--addbg)}pre .del{background:var(--delbg)}pre .gap{color:var(--soft)}
pre b{color:var(--key);font-weight:500}pre i{color:var(--com)}pre u{color:var(--num);text-decoration:none}pre s{color:var(--dir);text-decoration:none}
pre.text{white-space:pre-wrap;overflow-wrap:anywhere}
summary{cursor:pointer}
.node{border-bottom:1px solid var(--line)}
.node>summary{display:grid;grid-template-columns:3.2rem 1fr 11.5rem 6.6rem 6.6rem 4.2rem;gap:.1rem .7rem;padding:.35rem 0;align-items:baseline;list-style:none}
.node>summary::-webkit-details-marker{display:none}
.node>summary .id::before{content:"▸ ";color:var(--soft)}.node[open]>summary .id::before{content:"▾ "}
.node .inside{padding:.1rem 0 .8rem 1rem;border-left:3px solid var(--line);margin:0 0 .6rem .3rem}
.node:target{background:var(--panel)}
.verdict,.step{overflow-wrap:normal}
.head{display:grid;grid-template-columns:3.2rem 1fr 11.5rem 6.6rem 6.6rem 4.2rem;gap:.1rem .7rem;color:var(--soft);font-weight:600;font-size:.92rem;align-items:end;border-bottom:1px solid var(--line)}.head .number{white-space:normal}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:0}dt{color:var(--soft)}dd{margin:0}
@media(max-width:640px){
.bar-top .keys{display:none}
.wide{display:none}.narrow{display:block}
.bar{grid-template-columns:1fr auto;padding:.3rem 0}.bar .name{grid-row:1}.bar .value{grid-column:2}.track{grid-column:1/3;grid-row:2}.floor{grid-column:1/3;grid-row:3;margin-top:.3rem}.under{grid-column:1/3;grid-row:4}
.row{grid-template-columns:2.2rem 1fr 4.6rem}.row .step{display:none}
.node>summary{grid-template-columns:2.6rem 1fr auto}.node>summary .idea{grid-column:2/4}.node>summary .verdict{grid-column:2;grid-row:2}.node>summary .gain{grid-column:3;grid-row:2}.node>summary .gain:not(:empty)::before{content:"over the best then ";color:var(--soft)}.node>summary .over{grid-column:2/4;grid-row:3}.node>summary .over:not(:empty)::before{content:"over the start ";color:var(--soft)}.node>summary .fate{display:none}
.head{display:none}
table.stack,table.stack tbody,table.stack tr,table.stack td{display:block}table.stack tr:first-child{display:none}
table.stack tr{padding:.5rem 0;border-bottom:1px solid var(--line)}table.stack td{border:0;min-width:0;padding:.05rem 0;text-align:left;overflow-wrap:anywhere;white-space:normal}
table.stack td::before{content:attr(data-name) " ";color:var(--soft)}
h1{font-size:1.35rem}
}
.bar-top{position:sticky;top:0;z-index:2;background:var(--paper);border-bottom:1px solid var(--line);padding:.3rem 0;display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:.9rem}
kbd{border:1px solid var(--line);border-radius:.25rem;padding:0 .3rem;font:inherit;font-size:.85em}
form{display:flex;flex-wrap:wrap;gap:.4rem 1rem;align-items:center}select,button,label{font:inherit}select{max-width:min(24rem,90vw)}
table.sides{font:13px/1.5 ui-monospace,"SF Mono",Menlo,Consolas,monospace;table-layout:fixed;min-width:56rem;background:var(--panel)}
.sides th,.sides td{padding:0 .5rem;border:0;white-space:pre-wrap;overflow-wrap:anywhere}.sides th{font-family:system-ui,sans-serif}
.sides .n,.sides th:nth-child(odd){width:3.6rem;text-align:right;color:var(--soft);user-select:none}.sides .n::before{content:attr(data-n)}
.sides .add{background:var(--addbg)}.sides .del{background:var(--delbg)}.sides .none{background:var(--paper)}.sides .gap td{color:var(--soft)}
.sides b{color:var(--key);font-weight:500}.sides i{color:var(--com)}.sides u{color:var(--num);text-decoration:none}.sides s{color:var(--dir);text-decoration:none}
@media print{.tree,.scroll{max-height:none;overflow:visible}}
)css";

// Returns a whole HTML page with the style that all pages share. `attributes`: of its main element.
std::string PageFrame(std::string_view title, std::string_view head, std::string_view before_main,
                      std::string_view attributes, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=en><head><meta charset=utf-8><meta name=viewport content=\"width=device-width, "
      "initial-scale=1\">\n<title>{}</title>\n{}<style>{}</style></head>\n<body>\n{}<main{}>\n{}</main>\n</body></"
      "html>\n",
      EscapeMarkup(title), head, kStyle, before_main, attributes, body);
}

}  // namespace

std::string HtmlPage(std::string_view title, std::string_view body) { return PageFrame(title, "", "", "", body); }

std::string HtmlLivePage(std::string_view title, std::string_view body, int64_t events, bool ended) {
  return PageFrame(
      title, "<script src=/live.js defer></script>\n",
      "<div class=bar-top><span id=status class=soft role=status></span><span class='soft keys'><kbd>j</kbd> "
      "<kbd>k</kbd> next and "
      "previous node, <kbd>o</kbd> its page, <kbd>c</kbd> compare with its parent, <kbd>u</kbd> the "
      "report</span></div>\n",
      fmt::format(" data-events={} data-ended={}", events, ended), body);
}

}  // namespace hone
