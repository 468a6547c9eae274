// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "common/completion.h"

#include <algorithm>

namespace hone {
namespace {

bool TakesValue(const CLI::Option& option) { return option.get_type_size() != 0; }

// Returns the option with this name, as "--json" or "-h"; null if there is none.
const CLI::Option* OptionNamed(const CLI::App& command, const std::string& name) {
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& long_name : option->get_lnames()) {
      if ("--" + long_name == name) return option;
    }
    for (const std::string& short_name : option->get_snames()) {
      if ("-" + short_name == name) return option;
    }
  }
  return nullptr;
}

// Returns the subcommand with this name; null if there is none.
const CLI::App* Subcommand(const CLI::App& command, const std::string& name) {
  for (const CLI::App* sub : command.get_subcommands({})) {
    if (sub->get_name() == name) return sub;
  }
  return nullptr;
}

// Returns the choices in CLI11's description of a check, "TEXT:{bf16,fp32}".
std::vector<std::string> ChoicesOf(const CLI::Option& option) {
  std::vector<std::string> choices;
  const std::string type = option.get_type_name();
  size_t at = type.find('{');
  const size_t end = type.find('}', at == std::string::npos ? 0 : at);
  if (at == std::string::npos || end == std::string::npos) return choices;
  while (at < end) {
    const size_t next = std::min(type.find(',', at + 1), end);
    choices.push_back(type.substr(at + 1, next - at - 1));
    at = next;
  }
  return choices;
}

// Adds the values of an option that begin with `typed`, each with `before` in front.
void AddValues(const CLI::App& command, const Guide& guide, const CLI::Option& option, const std::string& before, const std::string& typed,
               Completions& completions) {
  const auto add = [&](const std::string& word) {
    if (word.starts_with(typed)) completions.words.emplace_back(before + word, "");
  };
  for (const std::string& choice : ChoicesOf(option)) add(choice);
  const ValueKind* kind = guide.ValueKindOf(command, option);
  if (kind == nullptr) return;
  for (const std::string& word : kind->words) add(word);
  if (kind->ask) {
    for (const std::string& word : kind->ask()) add(word);
  }
  completions.suffixes = kind->suffixes;
  completions.folders = kind->folders;
}

constexpr const char* kBash = R"sh(# Completion of PROGRAM for bash. Made by `PROGRAM completion bash`.
_FUNCTION() {
  local cur prefix line word i
  local -a words=()
  # Bash takes ':' and '=' for words of their own; what is typed without a blank belongs together.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if ((${#words[@]})) && [[ $word == [:=]* || ${COMP_WORDS[i - 1]} == *[:=] && $i -gt 1 && -n $word ]]; then
      words[${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
  done
  ((${#words[@]})) || words=("")
  cur=${words[${#words[@]} - 1]}
  prefix=
  [[ $cur == *[:=]* ]] && prefix=${cur%"${cur##*[:=]}"}
  COMPREPLY=()
  local path=$cur
  [[ $cur == --*=* ]] && path=${cur#*=}
  while IFS= read -r line; do
    case $line in
      :files*)
        compopt -o filenames 2>/dev/null
        for word in ${line#:files}; do
          if [[ $word == '*' ]]; then
            while IFS= read -r i; do COMPREPLY+=("$i"); done < <(compgen -f -- "$path")
          else
            while IFS= read -r i; do [[ $i == *"$word" ]] && COMPREPLY+=("$i"); done < <(compgen -f -- "$path")
          fi
        done
        while IFS= read -r i; do COMPREPLY+=("$i"); done < <(compgen -d -- "$path")
        ;;
      :folders)
        compopt -o filenames 2>/dev/null
        while IFS= read -r i; do COMPREPLY+=("$i"); done < <(compgen -d -- "$path")
        ;;
      *)
        word=${line%%$'\t'*}
        [[ $word == *[:=] ]] && compopt -o nospace 2>/dev/null
        COMPREPLY+=("${word#"$prefix"}")
        ;;
    esac
  done < <("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
}
complete -F _FUNCTION PROGRAM
)sh";

constexpr const char* kZsh = R"sh(#compdef PROGRAM
# Completion of PROGRAM for zsh. Made by `PROGRAM completion zsh`.
_FUNCTION() {
  local line word
  local -a described endings
  local folders=0 files=0
  while IFS= read -r line; do
    case $line in
      :files*) files=1; endings=(${(s: :)${line#:files }}) ;;
      :folders) folders=1 ;;
      *)
        word=${line%%$'\t'*}
        word=${word//:/\\:}
        [[ $line == *$'\t'?* ]] && word+=":${line#*$'\t'}"
        described+=("$word")
        ;;
    esac
  done < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
  (( $#described )) && _describe 'PROGRAM' described
  if (( files )); then
    if [[ ${endings[1]} == '*' ]]; then _files; else _files -g "*(${(j:|:)endings})"; fi
  elif (( folders )); then
    _files -/
  fi
}
if [[ $funcstack[1] == _FUNCTION ]]; then _FUNCTION "$@"; else compdef _FUNCTION PROGRAM; fi
)sh";

constexpr const char* kFish = R"sh(# Completion of PROGRAM for fish. Made by `PROGRAM completion fish`.
function __FUNCTION_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case ':files*'
                for ending in (string split -n ' ' -- (string replace ':files' '' -- $line))
                    if test "$ending" = '*'
                        __fish_complete_path "$current"
                    else
                        __fish_complete_suffix "$current" $ending
                    end
                end
            case ':folders'
                __fish_complete_directories "$current"
            case '*'
                echo $line
        end
    end
end
complete -c PROGRAM -f -a '(__FUNCTION_complete)'
)sh";

// Replaces every `from` in the text by `to`.
void Replace(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
}

}  // namespace

Completions Complete(const CLI::App& app, const Guide& guide, const std::vector<std::string>& words_typed) {
  Completions completions;
  if (words_typed.empty()) return completions;
  const CLI::App* command = &app;
  const CLI::Option* open = nullptr;  // the option whose value comes next; null: none
  size_t arguments = 0;               // arguments of the command so far
  bool only_arguments = false;        // the words are behind "--"
  for (size_t i = 0; i + 1 < words_typed.size(); ++i) {
    const std::string& word = words_typed[i];
    if (open != nullptr) {
      open = nullptr;
    } else if (!only_arguments && word == "--") {
      only_arguments = true;
    } else if (!only_arguments && word.size() > 1 && word[0] == '-') {
      const CLI::Option* option = OptionNamed(*command, word.substr(0, word.find('=')));
      if (option != nullptr && TakesValue(*option) && word.find('=') == std::string::npos) open = option;
    } else if (const CLI::App* sub = arguments == 0 ? Subcommand(*command, word) : nullptr; sub != nullptr) {
      command = sub;
    } else {
      ++arguments;
    }
  }
  const std::string& typed = words_typed.back();
  if (open != nullptr) {
    AddValues(*command, guide, *open, "", typed, completions);
    return completions;
  }
  if (!only_arguments && typed.starts_with("-")) {
    if (const size_t equals = typed.find('='); equals != std::string::npos) {
      const CLI::Option* option = OptionNamed(*command, typed.substr(0, equals));
      if (option != nullptr && TakesValue(*option)) {
        AddValues(*command, guide, *option, typed.substr(0, equals + 1), typed.substr(equals + 1), completions);
      }
      return completions;
    }
    for (const auto& [title, options] : GroupedOptions(*command, guide)) {
      for (const CLI::Option* option : options) {
        for (const std::string& name : option->get_lnames()) {
          if (("--" + name).starts_with(typed)) completions.words.emplace_back("--" + name, option->get_description());
        }
      }
    }
    return completions;
  }
  if (arguments == 0 && !only_arguments) {
    for (const CLI::App* sub : command->get_subcommands({})) {
      if (sub->get_name().starts_with(typed)) completions.words.emplace_back(sub->get_name(), sub->get_description());
    }
  }
  const std::vector<const CLI::Option*> positionals = command->get_options([](const CLI::Option* o) { return o->get_positional(); });
  if (positionals.empty()) return completions;
  const CLI::Option* last = positionals.back();
  const bool repeats = last->get_expected_max() > 1;
  if (arguments < positionals.size()) {
    AddValues(*command, guide, *positionals[arguments], "", typed, completions);
  } else if (repeats) {
    AddValues(*command, guide, *last, "", typed, completions);
  }
  return completions;
}

std::string CompletionLines(const Completions& completions) {
  std::string text;
  for (const auto& [word, meaning] : completions.words) text += word + (meaning.empty() ? "" : "\t" + meaning) + "\n";
  if (!completions.suffixes.empty()) {
    text += ":files";
    for (const std::string& suffix : completions.suffixes) text += " " + (suffix.empty() ? "*" : suffix);
    text += "\n";
  } else if (completions.folders) {
    text += ":folders\n";
  }
  return text;
}

std::string CompletionScript(const std::string& program, const std::string& shell) {
  std::string text = shell == "bash" ? kBash : shell == "zsh" ? kZsh : shell == "fish" ? kFish : "";
  std::string function = program;
  std::replace(function.begin(), function.end(), '-', '_');
  Replace(text, "FUNCTION", function);
  Replace(text, "PROGRAM", program);
  return text;
}

}  // namespace hone
